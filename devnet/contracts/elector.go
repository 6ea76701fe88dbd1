package contracts

import (
	"crypto/ed25519"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Elector takes stakes and fees in the masterchain. It wants tick and tock.
type Elector struct {
	ElectionID uint32 // of the first election: its Unix time
	Period     uint32 // seconds of an election
	HeldFor    uint32 // seconds that a stake is frozen after it
	MinStake   *big.Int
	Config     *address.Address
}

// StateInit has no stakes.
func (e Elector) StateInit() *tlb.StateInit {
	terms := cell.BeginCell().
		MustStoreUInt(uint64(e.Period), 32).
		MustStoreUInt(uint64(e.HeldFor), 32).
		MustStoreBigCoins(amount(e.MinStake)).
		MustStoreSlice(e.Config.Data(), 256).EndCell()
	return stateInit(ElectorCode, cell.BeginCell().
		MustStoreUInt(uint64(e.ElectionID), 32).
		MustStoreUInt(uint64(e.ElectionID+e.Period), 32).
		MustStoreBigCoins(new(big.Int)).
		MustStoreDict(nil).
		MustStoreDict(nil).
		MustStoreBigCoins(new(big.Int)).
		MustStoreDict(nil).
		MustStoreUInt(0, 64).
		MustStoreUInt(0, 64).
		MustStoreRef(terms))
}

// Config holds the parameters of the network, as its data's first reference. It
// wants tick and tock. It changes no parameter.
type Config struct {
	Params  *cell.Cell // dictionary of ConfigParams
	Key     ed25519.PublicKey
	Elector *address.Address
}

// StateInit begins with seqno 0.
func (c Config) StateInit() *tlb.StateInit {
	return stateInit(ConfigCode, cell.BeginCell().
		MustStoreRef(c.Params).
		MustStoreUInt(0, 32).
		MustStoreSlice(c.Key, 256).
		MustStoreDict(nil).
		MustStoreSlice(c.Elector.Data(), 256).
		MustStoreUInt(0, 32).
		MustStoreUInt(0, 64).
		MustStoreUInt(0, 64))
}

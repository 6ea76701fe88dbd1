package devnet

import (
	"crypto/ed25519"
	"math/big"
	"slices"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
)

// The system contracts of the masterchain. They run at the beginning and at the
// end of each of its blocks.
const (
	systemBalance = 10_000 // in TON
	electionTime  = 3600   // from the genesis to the first election and between two, in seconds
	stakeHeld     = 600    // seconds
	minStake      = 10_000 // in TON
)

// withSystem adds the elector and the config contract where nobody else brings
// them.
func withSystem(accounts []chain.Account, o origin) []chain.Account {
	at := func(id [32]byte) *address.Address { return address.NewAddress(0, 255, id[:]) }
	elector := contracts.Elector{
		ElectionID: o.GenesisTime + electionTime, Period: electionTime, HeldFor: stakeHeld,
		MinStake: tons(minStake), Config: at(chain.Config),
	}.StateInit()
	config := contracts.Config{
		Params: cell.BeginCell().EndCell(), // the chain puts them in
		Key:    OwnerOf(o.Seed, 0).Key.Public().(ed25519.PublicKey), Elector: at(chain.Elector),
	}.StateInit()
	for _, a := range []chain.Account{
		{Workchain: -1, ID: chain.Elector, Code: elector.Code, Data: elector.Data, Balance: tons(systemBalance), Tick: true, Tock: true},
		{Workchain: -1, ID: chain.Config, Code: config.Code, Data: config.Data, Balance: tons(systemBalance), Tick: true, Tock: true},
	} {
		if !slices.ContainsFunc(accounts, func(b chain.Account) bool { return b.Workchain == a.Workchain && b.ID == a.ID }) {
			accounts = append(accounts, a)
		}
	}
	return accounts
}

// tons are whole TON in nanotons.
func tons(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), nanotons) }

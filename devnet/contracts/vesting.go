package contracts

import (
	"crypto/ed25519"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Vesting is a wallet that unlocks an amount step by step.
type Vesting struct {
	Key                                        ed25519.PublicKey
	Subwallet                                  uint32
	StartTime                                  uint64
	TotalDuration, UnlockPeriod, CliffDuration uint32 // seconds; the period divides the others
	TotalAmount                                *big.Int
	Sender                                     *address.Address // fills the list of addresses
	Owner                                      *address.Address // may send
}

// StateInit has an empty list of addresses.
func (v Vesting) StateInit() *tlb.StateInit {
	terms := cell.BeginCell().
		MustStoreUInt(v.StartTime, 64).
		MustStoreUInt(uint64(v.TotalDuration), 32).
		MustStoreUInt(uint64(v.UnlockPeriod), 32).
		MustStoreUInt(uint64(v.CliffDuration), 32).
		MustStoreBigCoins(amount(v.TotalAmount)).
		MustStoreAddr(v.Sender).
		MustStoreAddr(v.Owner).EndCell()
	return stateInit(VestingCode, cell.BeginCell().
		MustStoreUInt(0, 32).
		MustStoreUInt(uint64(v.Subwallet), 32).
		MustStoreSlice(v.Key, 256).
		MustStoreDict(nil).
		MustStoreRef(terms))
}

// Address is where StateInit is deployed.
func (v Vesting) Address(workchain int32) *address.Address {
	return AddressOf(workchain, v.StateInit())
}

// VestingSendBody is for the wallet, from its owner. While something is locked
// the mode must be ModePayFees|ModeIgnoreErrors.
func VestingSendBody(queryID uint64, message Message) *cell.Cell {
	return body(0xa7733acd, queryID).MustStoreUInt(uint64(message.Mode), 8).MustStoreRef(message.Cell()).EndCell()
}

// VestingAddWhitelistBody is for the wallet, from its sender. There must be at
// least one address.
func VestingAddWhitelistBody(queryID uint64, addresses ...*address.Address) *cell.Cell {
	var next *cell.Cell
	for i := len(addresses) - 1; i > 0; i-- {
		link := cell.BeginCell().MustStoreAddr(addresses[i])
		if next != nil {
			link.MustStoreRef(next)
		}
		next = link.EndCell()
	}
	first := body(0x7258a69b, queryID).MustStoreAddr(addresses[0])
	if next != nil {
		first.MustStoreRef(next)
	}
	return first.EndCell()
}

// External is the signed external message that sends one message.
func (v Vesting) External(workchain int32, key ed25519.PrivateKey, seqno, validUntil uint32, message Message) (*cell.Cell, error) {
	payload := cell.BeginCell().
		MustStoreUInt(uint64(v.Subwallet), 32).
		MustStoreUInt(uint64(validUntil), 32).
		MustStoreUInt(uint64(seqno), 32).
		MustStoreUInt(uint64(message.Mode), 8).
		MustStoreRef(message.Cell())
	return tlb.ToCell(&tlb.ExternalMessage{
		DstAddr: v.Address(workchain),
		Body:    cell.BeginCell().MustStoreSlice(payload.EndCell().Sign(key), 512).MustStoreBuilder(payload).EndCell(),
	})
}

package contracts

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Forwarder sends one message on to many, for wide and deep traces, and fails
// when it is told to.
type Forwarder struct {
	ID uint64 // tells forwarders apart
}

// StateInit has not run yet.
func (f Forwarder) StateInit() *tlb.StateInit {
	return stateInit(ForwarderCode, cell.BeginCell().MustStoreUInt(f.ID, 64).MustStoreUInt(0, 64))
}

// Address is where StateInit is deployed.
func (f Forwarder) Address(workchain int32) *address.Address {
	return AddressOf(workchain, f.StateInit())
}

// Target is where a forwarder sends. A body (ForwardBody for another forwarder)
// makes the message bounceable.
type Target struct {
	To    *address.Address
	Value *big.Int
	Body  *cell.Cell
}

// MaxTargets is how many messages a transaction can send, the rest included.
const MaxTargets = 254

// ForwardBody is for a forwarder, from anybody, with the values of the targets
// and their fees (some 0.003 TON each). What is left goes back when it is asked
// for.
func ForwardBody(queryID uint64, returnRest bool, targets ...Target) *cell.Cell {
	dict := numbered(16, 0, targets, func(t Target) *cell.Builder {
		return cell.BeginCell().MustStoreAddr(t.To).MustStoreBigCoins(amount(t.Value)).MustStoreMaybeRef(t.Body)
	})
	return body(0x464f5257, queryID).MustStoreBoolBit(returnRest).MustStoreDict(dict).EndCell()
}

// FailPhase is where a forwarder fails.
type FailPhase uint8

// The ways to fail.
const (
	FailCompute  FailPhase = iota // throws the exit code
	FailAction                    // sends more than there is
	FailOutOfGas                  // loops
)

// FailBody is for a forwarder, from anybody.
func FailBody(queryID uint64, phase FailPhase, exitCode uint16) *cell.Cell {
	return body(0x4641494c, queryID).MustStoreUInt(uint64(phase), 8).MustStoreUInt(uint64(exitCode), 16).EndCell()
}

// DeleteBody is for a forwarder, from anybody: the account ends, what it has
// goes to the sender.
func DeleteBody(queryID uint64) *cell.Cell {
	return body(0x44454c45, queryID).EndCell()
}

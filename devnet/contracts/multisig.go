package contracts

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Multisig is a wallet whose orders are executed when Threshold of its signers
// approve.
type Multisig struct {
	Threshold uint8
	Signers   []*address.Address
	Proposers []*address.Address // may open orders, not approve
	// AnySeqno lets orders have any number; else they count from 0.
	AnySeqno bool
}

// StateInit has no orders.
func (m Multisig) StateInit() *tlb.StateInit {
	return stateInit(MultisigCode, cell.BeginCell().
		MustStoreBigUInt(new(big.Int), 256).
		MustStoreUInt(uint64(m.Threshold), 8).
		MustStoreRef(addressDict(m.Signers).AsCell()).
		MustStoreUInt(uint64(len(m.Signers)), 8).
		MustStoreDict(addressDict(m.Proposers)).
		MustStoreBoolBit(m.AnySeqno).
		MustStoreRef(Code(MultisigOrderCode)))
}

// Address is where StateInit is deployed.
func (m Multisig) Address(workchain int32) *address.Address {
	return AddressOf(workchain, m.StateInit())
}

// Order is the order with a number.
func (m Multisig) Order(workchain int32, seqno *big.Int) MultisigOrder {
	return MultisigOrder{Multisig: m.Address(workchain), Seqno: seqno}
}

func addressDict(addresses []*address.Address) *cell.Dictionary {
	return numbered(8, 0, addresses, func(a *address.Address) *cell.Builder { return cell.BeginCell().MustStoreAddr(a) })
}

// MultisigOrder is an order before its first message, which comes from the
// wallet.
type MultisigOrder struct {
	Multisig *address.Address
	Seqno    *big.Int
}

// StateInit is of an order that nobody has opened.
func (o MultisigOrder) StateInit() *tlb.StateInit {
	return stateInit(MultisigOrderCode, cell.BeginCell().
		MustStoreAddr(o.Multisig).
		MustStoreBigUInt(amount(o.Seqno), 256))
}

// Address is where StateInit is deployed.
func (o MultisigOrder) Address(workchain int32) *address.Address {
	return AddressOf(workchain, o.StateInit())
}

// MultisigAction is one thing that an order does: it sends Message, or sets the
// wallet's Update.
type MultisigAction struct {
	Message *Message
	Update  *Multisig
}

// MultisigActions is what NewOrder carries.
func MultisigActions(actions ...MultisigAction) *cell.Cell {
	return numbered(8, 0, actions, func(a MultisigAction) *cell.Builder { return cell.BeginCell().MustStoreRef(a.cell()) }).AsCell()
}

func (a MultisigAction) cell() *cell.Cell {
	if a.Update != nil {
		return cell.BeginCell().MustStoreUInt(0x1d0cfbd3, 32).
			MustStoreUInt(uint64(a.Update.Threshold), 8).
			MustStoreRef(addressDict(a.Update.Signers).AsCell()).
			MustStoreDict(addressDict(a.Update.Proposers)).EndCell()
	}
	return cell.BeginCell().MustStoreUInt(0xf1381e5b, 32).
		MustStoreUInt(uint64(a.Message.Mode), 8).
		MustStoreRef(a.Message.Cell()).EndCell()
}

// NewOrder opens an order.
type NewOrder struct {
	QueryID    uint64
	Seqno      *big.Int // the wallet's next one
	FromSigner bool     // who also approves it; else a proposer
	Index      uint8    // of the sender among signers or proposers
	Expiration uint64   // Unix time
	Actions    *cell.Cell
}

// MultisigNewOrderBody is for the wallet, from a signer or a proposer, with at
// least what get_order_estimate tells.
func MultisigNewOrderBody(o NewOrder) *cell.Cell {
	return body(0xf718510f, o.QueryID).
		MustStoreBigUInt(amount(o.Seqno), 256).
		MustStoreBoolBit(o.FromSigner).
		MustStoreUInt(uint64(o.Index), 8).
		MustStoreUInt(o.Expiration, 48).
		MustStoreRef(o.Actions).EndCell()
}

// MultisigApproveBody is for the order, from the signer with the index. The text
// "approve" does the same.
func MultisigApproveBody(queryID uint64, signer uint8) *cell.Cell {
	return body(0xa762230f, queryID).MustStoreUInt(uint64(signer), 8).EndCell()
}

package contracts

import (
	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Endless has the get-methods that explorers call, and none of them ends.
type Endless struct {
	ID uint64 // tells them apart
}

// StateInit is data that nothing reads.
func (e Endless) StateInit() *tlb.StateInit {
	return stateInit(EndlessCode, cell.BeginCell().MustStoreUInt(e.ID, 64))
}

// Address is where StateInit is deployed.
func (e Endless) Address(workchain int32) *address.Address {
	return AddressOf(workchain, e.StateInit())
}

// Bomb is a jetton, a collection and an item whose content is hard to decode.
// DeepContent, SharedContent and HugeContent are some.
type Bomb struct {
	ID      uint64 // tells them apart
	Content *cell.Cell
}

// StateInit holds the content.
func (b Bomb) StateInit() *tlb.StateInit {
	return stateInit(BombCode, cell.BeginCell().MustStoreUInt(b.ID, 64).MustStoreRef(b.Content))
}

// Address is where StateInit is deployed.
func (b Bomb) Address(workchain int32) *address.Address {
	return AddressOf(workchain, b.StateInit())
}

// DeepContent is an off-chain URI of one byte a cell. A message can carry
// somewhat less than 512 levels.
func DeepContent(levels int) *cell.Cell {
	next := cell.BeginCell().MustStoreUInt('x', 8).EndCell()
	for range levels - 2 {
		next = cell.BeginCell().MustStoreUInt('x', 8).MustStoreRef(next).EndCell()
	}
	return cell.BeginCell().MustStoreUInt(1, 8).MustStoreRef(next).EndCell()
}

// SharedContent is on-chain content where every attribute's value is a tree of
// shared cells: few cells, and 4 to the power of the depth of them as a tree.
func SharedContent(depth int) *cell.Cell {
	next := cell.BeginCell().MustStoreUInt('y', 8).EndCell()
	for range depth {
		next = cell.BeginCell().MustStoreUInt(0, 8).
			MustStoreRef(next).MustStoreRef(next).MustStoreRef(next).MustStoreRef(next).EndCell()
	}
	attributes := map[string]*cell.Cell{"name": next, "symbol": next, "description": next, "image": next, "decimals": next}
	dict := named(attributes, func(value *cell.Cell) *cell.Builder { return cell.BeginCell().MustStoreRef(value) })
	return cell.BeginCell().MustStoreUInt(0, 8).MustStoreDict(dict).EndCell()
}

// HugeContent is an off-chain URI of many bytes: 127 in each cell, in a chain.
func HugeContent(bytes int) *cell.Cell {
	uri := make([]byte, bytes)
	for i := range uri {
		uri[i] = 'a' + byte(i%26)
	}
	return OffchainContent(string(uri))
}

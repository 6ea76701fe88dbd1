// Package airdrop reads the airdrops of mintless jettons (TEP-177). In come the bytes of
// a dump, which whoever serves it may have made up, and the hash that the jetton's
// master gives; out come the amounts by owner.
//
// A dump counts only with that hash, so that nothing in it can be wrong; but the
// jetton's maker chooses both. Cells can be shared, and few of them are then a
// dictionary without end: reading one visits no more nodes than the dump has cells. The
// package must never fetch anything.
package airdrop

import (
	"errors"
	"fmt"
	"math/big"

	"tonscribe/ton/cell"
)

// MaxBytes is the size of the largest dump that is read.
const MaxBytes = cell.MaxSize

// ErrRoot is the error of a dump that is another one than the jetton's.
var ErrRoot = errors.New("the dump has another root hash")

// Item is AirdropItem: _ amount:Coins start_from:uint48 expired_at:uint48, with whose
// it is. Times are Unix seconds.
type Item struct {
	Workchain           int32
	Owner               [32]byte
	Amount              *big.Int
	StartFrom, ExpireAt uint64
}

// Airdrop is Airdrop: _ _(Hashmap 267 AirdropItem), by MsgAddressInt. Only addr_std
// without anycast can claim, so that other keys are passed over.
type Airdrop struct {
	bag   *cell.Bag
	Items int
}

// Parse reads the dump of the airdrop whose root cell has a hash. All of its items
// can be read then.
func Parse(dump []byte, root [32]byte) (*Airdrop, error) {
	bag, err := cell.Parse(dump)
	if err != nil {
		return nil, err
	}
	c, err := bag.Single()
	if err != nil {
		return nil, err
	}
	if *c.Hash() != root {
		return nil, fmt.Errorf("%w: %x instead of %x", ErrRoot, *c.Hash(), root)
	}
	a := &Airdrop{bag: bag}
	err = a.Each(func(*Item) error {
		a.Items++
		return nil
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// keyBits is the size of addr_std without anycast: addr_std$10 nothing$0
// workchain_id:int8 address:bits256.
const (
	keyBits = 2 + 1 + 8 + 256
	keyTag  = 0b100
)

// Each calls take with the items in the order of their keys. The item belongs to Each
// and is overwritten.
func (a *Airdrop) Each(take func(*Item) error) error {
	w := walker{budget: a.bag.Len(), take: take}
	return w.node(a.bag.Root(0).Slice(), 0)
}

// walker goes through a Hashmap, whose keys are longer than those of cell.Slice.Hashmap.
type walker struct {
	budget int // nodes
	key    [(keyBits + 7) / 8]byte
	take   func(*Item) error
	item   Item
}

// node reads a node behind the first at bits of the key.
func (w *walker) node(s cell.Slice, at uint) error {
	if w.budget--; w.budget < 0 {
		return fmt.Errorf("%w: the dictionary has more nodes than cells", cell.ErrLimit)
	}
	n, err := cell.ReadLabel(&s, w.key[:], at, keyBits)
	if err != nil {
		return err
	}
	if at += n; at == keyBits {
		return w.leaf(s)
	}
	left, right := s.Ref(), s.Ref()
	if s.Failed() {
		return s.Err()
	}
	for side, c := range [2]cell.Cell{left, right} {
		cell.SetBit(w.key[:], at, side == 1)
		if err := w.node(c.Slice(), at+1); err != nil {
			return err
		}
	}
	return nil
}

// leaf reads an item. What follows it is left alone, as by the jetton's wallets.
func (w *walker) leaf(s cell.Slice) error {
	var amount [15]byte // VarUInteger 16
	size := int(s.Uint(4))
	s.Read(amount[:size])
	start, expire := s.Uint(48), s.Uint(48)
	if s.Failed() {
		return s.Err()
	}
	if w.key[0]>>5 != keyTag {
		return nil
	}
	w.item = Item{Workchain: int32(int8(w.key[0]<<3 | w.key[1]>>5)), Amount: new(big.Int).SetBytes(amount[:size]), StartFrom: start, ExpireAt: expire}
	for i := range w.item.Owner {
		w.item.Owner[i] = w.key[i+1]<<3 | w.key[i+2]>>5
	}
	return w.take(&w.item)
}

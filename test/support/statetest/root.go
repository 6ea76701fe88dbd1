// Package statetest reads accounts and their states out of blocks by another
// library, for tests that hold package decode to it: in come blocks, out go the
// accounts that they change with what the state update shows of them. It must
// know nothing of package decode.
package statetest

import (
	"fmt"
	"math/bits"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Account is an account that a block changes.
type Account struct {
	ID [32]byte
	// OldHash and NewHash are the state hashes of the account block (HASH_UPDATE).
	OldHash, NewHash []byte
	Transactions     []Transaction // by lt
	// Old and New are what the update shows; the zero Leaf is for nothing.
	Old, New Leaf
}

// Transaction of a block.
type Transaction struct {
	*tlb.Transaction
	Hash []byte
}

// Leaf is an account in a shard state. Its cell may be a pruned branch.
type Leaf struct {
	Account  *cell.Cell
	LastHash []byte
	LastLT   uint64
}

// Readable reports whether the state is there, not only its hash.
func (l Leaf) Readable() bool {
	return l.Account != nil && l.Account.GetType() != cell.PrunedCellType
}

// Read reads the accounts of a block, by id.
func Read(boc []byte) (accounts []Account, err error) {
	root, err := cell.FromBOC(boc)
	if err != nil {
		return nil, err
	}
	var block tlb.Block
	if err := tlb.Parse(&block, root); err != nil {
		return nil, err
	}
	update, err := root.PeekRef(2)
	if err != nil {
		return nil, err
	}
	sides := [2]map[[32]byte]Leaf{{}, {}}
	for i := range sides {
		state, err := update.PeekRef(i)
		if err != nil {
			return nil, err
		}
		if err := readState(state, sides[i]); err != nil {
			return nil, err
		}
	}
	return accounts, walkRoot(block.Extra.ShardAccountBlocks, func(id [32]byte, value *cell.Slice) error {
		a := Account{ID: id, Old: sides[0][id], New: sides[1][id]}
		if err := skipCurrencies(value); err != nil {
			return err
		}
		if err := a.read(value); err != nil {
			return fmt.Errorf("account %x: %w", id, err)
		}
		accounts = append(accounts, a)
		return nil
	})
}

// read reads AccountBlock.
func (a *Account) read(value *cell.Slice) error {
	var block tlb.AccountBlock
	if err := tlb.LoadFromCell(&block, value); err != nil {
		return err
	}
	var update tlb.HashUpdate
	if err := tlb.Parse(&update, block.StateUpdate); err != nil {
		return err
	}
	a.OldHash, a.NewHash = update.OldHash, update.NewHash
	entries, err := block.Transactions.Range(false, false)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		root, err := entry.Value.LoadRefCell()
		if err != nil {
			return err
		}
		var tx tlb.Transaction
		if err := tlb.Parse(&tx, root); err != nil {
			return err
		}
		a.Transactions = append(a.Transactions, Transaction{&tx, root.Hash()})
	}
	return nil
}

// readState reads the accounts that a side of an update shows.
func readState(state *cell.Cell, leaves map[[32]byte]Leaf) error {
	if state.GetType() == cell.PrunedCellType {
		return nil
	}
	s, err := state.BeginParse()
	if err != nil {
		return err
	}
	tag, err := s.LoadUInt(32)
	if err != nil {
		return err
	}
	if tag == 0x5f327da5 { // split_state
		for i := range 2 {
			part, err := state.PeekRef(i)
			if err != nil {
				return err
			}
			if err := readState(part, leaves); err != nil {
				return err
			}
		}
		return nil
	}
	accounts, err := state.PeekRef(1)
	if err != nil || accounts.GetType() == cell.PrunedCellType {
		return err
	}
	return walkRoot(accounts, func(id [32]byte, value *cell.Slice) (err error) {
		if _, err := value.LoadUInt(5); err != nil { // split_depth
			return err
		}
		if err := skipCurrencies(value); err != nil {
			return err
		}
		var l Leaf
		if l.Account, err = value.LoadRefCell(); err != nil {
			return err
		}
		if l.LastHash, err = value.LoadSlice(256); err != nil {
			return err
		}
		l.LastLT, err = value.LoadUInt(64)
		leaves[id] = l
		return err
	})
}

func skipCurrencies(s *cell.Slice) error {
	if _, err := s.LoadBigCoins(); err != nil {
		return err
	}
	extra, err := s.LoadBoolBit()
	if err == nil && extra {
		_, err = s.LoadRefCell()
	}
	return err
}

// walkRoot walks HashmapAugE 256 with what is not pruned of it.
func walkRoot(root *cell.Cell, each func([32]byte, *cell.Slice) error) error {
	s, err := root.BeginParse()
	if err != nil {
		return err
	}
	some, err := s.LoadBoolBit()
	if err != nil || !some {
		return err
	}
	top, err := s.LoadRefCell()
	if err != nil {
		return err
	}
	return walk(top, nil, each)
}

// keyBits of a dictionary of accounts.
const keyBits = 256

// walk walks a node; key are the bits above it, one to a byte. A leaf's value
// begins with its extra.
func walk(node *cell.Cell, key []byte, each func([32]byte, *cell.Slice) error) error {
	if node.GetType() == cell.PrunedCellType {
		return nil
	}
	s, err := node.BeginParse()
	if err != nil {
		return err
	}
	label, err := loadLabel(s, keyBits-len(key))
	if err != nil {
		return err
	}
	key = append(key[:len(key):len(key)], label...)
	if len(key) == keyBits {
		var id [32]byte
		for i, bit := range key {
			id[i/8] |= bit << (7 - i%8)
		}
		return each(id, s)
	}
	for i := range byte(2) {
		child, err := node.PeekRef(int(i))
		if err != nil {
			return err
		}
		if err := walk(child, append(key[:len(key):len(key)], i), each); err != nil {
			return err
		}
	}
	return nil
}

// loadLabel reads HmLabel with at most so many bits.
func loadLabel(s *cell.Slice, most int) (label []byte, err error) {
	bit := func() byte {
		var b uint64
		if err == nil {
			b, err = s.LoadUInt(1)
		}
		return byte(b)
	}
	number := func() (n int) {
		for range bits.Len(uint(most)) {
			n = n<<1 | int(bit())
		}
		return n
	}
	n, same := 0, false
	var repeated byte
	switch {
	case bit() == 0: // hml_short
		for bit() == 1 && err == nil {
			n++
		}
	case bit() == 0: // hml_long
		n = number()
	default: // hml_same
		repeated, same = bit(), true
		n = number()
	}
	for range n {
		if !same {
			repeated = bit()
		}
		label = append(label, repeated)
	}
	return label, err
}

// Cells are those that were shown so far, by hash: what a store could know that
// keeps everything.
type Cells map[[32]byte]*cell.Cell

// Show adds a tree without what is pruned.
func (c Cells) Show(root *cell.Cell) error {
	if root == nil || root.GetType() == cell.PrunedCellType {
		return nil
	}
	c[[32]byte(root.Hash(0))] = root
	for i := range int(root.RefsNum()) {
		child, err := root.PeekRef(i)
		if err != nil {
			return err
		}
		if err := c.Show(child); err != nil {
			return err
		}
	}
	return nil
}

// Missing adds the hashes of the cells of a tree that were never shown.
func (c Cells) Missing(hash [32]byte, missing map[[32]byte]bool) error {
	root := c[hash]
	if root == nil {
		missing[hash] = true
		return nil
	}
	for i := range int(root.RefsNum()) {
		child, err := root.PeekRef(i)
		if err != nil {
			return err
		}
		if err := c.Missing([32]byte(child.Hash(0)), missing); err != nil {
			return err
		}
	}
	return nil
}

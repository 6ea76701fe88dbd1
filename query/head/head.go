// Package head holds the newest bundles in memory.
//
// In: rows of the tables blocks, transactions and progress. Out: views, each of
// which is the watermark and what is held of the bundles up to it. A view does not
// change.
package head

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"tonscribe/query/memory"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/ton/address"
)

// View is what one request sees: the watermark and what is held of the head.
// It does not change.
type View struct {
	// Watermark is the newest masterchain block whose bundle is complete.
	Watermark uint32
	// Tables is that up to which rows are read from the tables, and Memory what the
	// bundles after it have in them.
	Tables uint32
	Memory memory.Bundles
	// Held are Memory and those before it that are still there.
	Held memory.Bundles
	// GenUtime is its time.
	GenUtime uint32
	// First and Last are the oldest and the newest visible masterchain block.
	First, Last *record.Block
	Head        Head
}

// BlockID names a block on one chain.
type BlockID struct {
	Workchain int32
	Shard     uint64
	Seqno     uint32
}

// IDOf returns the id of a block.
func IDOf(b *record.Block) BlockID { return BlockID{b.Id.Workchain, b.Id.Shard, b.Id.Seqno} }

// Head is what is held of the newest bundles: the blocks of all of them, the
// transactions of the newest. It is a value that does not change; the follower
// makes a new one for each step.
type Head struct {
	Bundles []*Bundle // by mc_seqno, every one from the first to the last
	// WithTransactions is the index of the first bundle from which on all hold
	// their transactions.
	WithTransactions int
	// What lies outside: the greatest time of a block before the bundles, the
	// greatest lt and time of a transaction before those with transactions.
	outsideBlocks       uint32
	outsideTransactions Reach
	// Greatest values of everything before bundle i, outside included.
	BlocksBefore       []uint32
	TransactionsBefore []Reach
}

// Reach is how far the keys of some transactions go.
type Reach struct {
	Now uint32
	Lt  uint64
}

func (r Reach) and(o Reach) Reach { return Reach{max(r.Now, o.Now), max(r.Lt, o.Lt)} }

// Bundle is one masterchain block's bundle.
type Bundle struct {
	McSeqno      uint32
	blocksUtime  uint32        // the greatest of its blocks
	blocks       []byte        // records, each after its length
	Transactions []Transaction // newest first; nil when not held
	accounts     []uint64      // the prefixes of their accounts, ascending
	reach        Reach         // of its transactions
	bytes        int           // of its transactions
	Count        int           // of its transactions, held or not
}

// Transaction is a transaction with what is needed to find it in a list.
type Transaction struct {
	Lt      uint64
	Now     uint32
	Account address.Address
	record  []byte
	trace   *record.Trace // its id and the hash of what began it; nil where that is not known for good
}

// overhead of a bundle besides its records, for the budget.
const bundleOverhead = 160

// heldOverhead is that of a transaction.
const heldOverhead = 160

// newBundle packs the blocks of a bundle. The hashes of previous blocks are
// left out: nobody shows them.
func newBundle(mcSeqno uint32, blocks []*record.Block) (*Bundle, error) {
	b := &Bundle{McSeqno: mcSeqno}
	for _, block := range blocks {
		for _, previous := range block.PrevBlocks {
			previous.RootHash, previous.FileHash = nil, nil
		}
		b.blocksUtime = max(b.blocksUtime, block.GenUtime)
		b.Count += int(block.TxCount)
		packed, err := block.MarshalVT()
		if err != nil {
			return nil, fmt.Errorf("block (%d,%x,%d): %w", block.Id.Workchain, block.Id.Shard, block.Id.Seqno, err)
		}
		b.blocks = binary.AppendUvarint(b.blocks, uint64(len(packed)))
		b.blocks = append(b.blocks, packed...)
	}
	b.blocks = slices.Clip(b.blocks)
	return b, nil
}

// hold adds the transactions, and of some their traces. The bundle must not be visible
// yet.
func (b *Bundle) hold(list []*record.Transaction, records [][]byte, traces map[TracedKey]*record.Trace) {
	held := make([]Transaction, len(list))
	size := 0
	for _, r := range records {
		size += len(r)
	}
	arena := make([]byte, 0, size)
	for i, tx := range list {
		at := len(arena)
		arena = append(arena, records[i]...)
		held[i] = Transaction{tx.Lt, tx.Now, address.Address(tx.Account), arena[at:], traces[TracedKeyOf(tx.Account, tx.Lt)]}
		held[i].record = slices.Clip(held[i].record)
		b.accounts = append(b.accounts, schema.Prefix(tx.Account[4:]))
		b.reach = b.reach.and(Reach{tx.Now, tx.Lt})
	}
	slices.Sort(b.accounts)
	b.accounts = slices.Clip(slices.Compact(b.accounts))
	slices.SortStableFunc(held, func(a, c Transaction) int {
		switch {
		case a.Lt > c.Lt:
			return -1
		case a.Lt < c.Lt:
			return 1
		}
		return 0
	})
	b.Transactions, b.bytes = held, size+len(held)*heldOverhead
}

// HasAny is false when the bundle has no transactions of some accounts.
func (b *Bundle) HasAny(accounts []address.Address) bool {
	for i := range accounts {
		if _, found := slices.BinarySearch(b.accounts, schema.Prefix(accounts[i][4:])); found {
			return true
		}
	}
	return false
}

// Blocks reads the blocks of a bundle.
func (b *Bundle) Blocks() []*record.Block {
	var list []*record.Block
	for rest := b.blocks; len(rest) > 0; {
		n, w := binary.Uvarint(rest)
		block := new(record.Block)
		if block.UnmarshalVT(rest[w:w+int(n)]) == nil {
			list = append(list, block)
		}
		rest = rest[w+int(n):]
	}
	return list
}

// Bundle finds the bundle of a masterchain block.
func (h *Head) Bundle(mcSeqno uint32) *Bundle {
	i, found := sort.Find(len(h.Bundles), func(i int) int {
		return int(int64(mcSeqno) - int64(h.Bundles[i].McSeqno))
	})
	if !found {
		return nil
	}
	return h.Bundles[i]
}

// Reaches reports whether the head ends with the watermark.
func (h *Head) Reaches(watermark uint32) bool {
	return len(h.Bundles) > 0 && h.Bundles[len(h.Bundles)-1].McSeqno == watermark
}

// measure fills the greatest values before each bundle.
func (h *Head) measure() {
	h.BlocksBefore = make([]uint32, len(h.Bundles))
	h.TransactionsBefore = make([]Reach, len(h.Bundles))
	utime, far := h.outsideBlocks, h.outsideTransactions
	for i, b := range h.Bundles {
		h.BlocksBefore[i], h.TransactionsBefore[i] = utime, far
		utime = max(utime, b.blocksUtime)
		if i >= h.WithTransactions {
			far = far.and(b.reach)
		}
	}
}

// BlocksOf is the blocks of a masterchain block's bundle, if held.
func (h *Head) BlocksOf(mcSeqno uint32) ([]*record.Block, bool) {
	b := h.Bundle(mcSeqno)
	if b == nil {
		return nil, false
	}
	return b.Blocks(), true
}

// Of are the transactions of an account.
func (b *Bundle) Of(account address.Address) func(yield func(*Transaction) bool) {
	return func(yield func(*Transaction) bool) {
		for i := range b.Transactions {
			if b.Transactions[i].Account == account && !yield(&b.Transactions[i]) {
				return
			}
		}
	}
}

// TraceOf is the trace of a transaction where it is held: its id, and the hash of the
// message that began it.
func (h *Head) TraceOf(tx *record.Transaction) *record.Trace {
	b := h.Bundle(tx.McSeqno)
	if b == nil {
		return nil
	}
	for t := range b.Of(address.Address(tx.Account)) {
		if t.Lt == tx.Lt {
			return t.trace
		}
	}
	return nil
}

func (t *Transaction) Unpack() (*record.Transaction, bool) {
	tx := new(record.Transaction)
	return tx, stored.Unpack(tx, t.record) == nil
}

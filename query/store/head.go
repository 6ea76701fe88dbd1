package store

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// head is what is held of the newest bundles: the blocks of all of them, the
// transactions of the newest. It is a value that does not change; the follower
// makes a new one for each step.
type head struct {
	bundles []*bundle // by mc_seqno, every one from the first to the last
	// withTransactions is the index of the first bundle from which on all hold
	// their transactions.
	withTransactions int
	// What lies outside: the greatest time of a block before the bundles, the
	// greatest lt and time of a transaction before those with transactions.
	outsideBlocks       uint32
	outsideTransactions reach
	// Greatest values of everything before bundle i, outside included.
	blocksBefore       []uint32
	transactionsBefore []reach
}

// reach is how far the keys of some transactions go.
type reach struct {
	now uint32
	lt  uint64
}

func (r reach) and(o reach) reach { return reach{max(r.now, o.now), max(r.lt, o.lt)} }

// bundle is one masterchain block's bundle.
type bundle struct {
	mcSeqno      uint32
	blocksUtime  uint32       // the greatest of its blocks
	blocks       []byte       // records, each after its length
	transactions []heldRecord // newest first; nil when not held
	accounts     []uint64     // the prefixes of their accounts, ascending
	reach        reach        // of its transactions
	bytes        int          // of its transactions
	count        int          // of its transactions, held or not
}

// heldRecord is a transaction with what is needed to find it in a list.
type heldRecord struct {
	lt      uint64
	now     uint32
	account Address
	record  []byte
}

// overhead of a bundle besides its records, for the budget.
const bundleOverhead = 160

// heldOverhead is that of a transaction.
const heldOverhead = 112

// newBundle packs the blocks of a bundle. The hashes of previous blocks are
// left out: nobody shows them.
func newBundle(mcSeqno uint32, blocks []*record.Block) (*bundle, error) {
	b := &bundle{mcSeqno: mcSeqno}
	for _, block := range blocks {
		for _, previous := range block.PrevBlocks {
			previous.RootHash, previous.FileHash = nil, nil
		}
		b.blocksUtime = max(b.blocksUtime, block.GenUtime)
		b.count += int(block.TxCount)
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

// hold adds the transactions. The bundle must not be visible yet.
func (b *bundle) hold(list []*record.Transaction, records [][]byte) {
	held := make([]heldRecord, len(list))
	size := 0
	for _, r := range records {
		size += len(r)
	}
	arena := make([]byte, 0, size)
	for i, tx := range list {
		at := len(arena)
		arena = append(arena, records[i]...)
		held[i] = heldRecord{tx.Lt, tx.Now, Address(tx.Account), arena[at:]}
		held[i].record = slices.Clip(held[i].record)
		b.accounts = append(b.accounts, schema.Prefix(tx.Account[4:]))
		b.reach = b.reach.and(reach{tx.Now, tx.Lt})
	}
	slices.Sort(b.accounts)
	b.accounts = slices.Clip(slices.Compact(b.accounts))
	slices.SortStableFunc(held, func(a, c heldRecord) int {
		switch {
		case a.lt > c.lt:
			return -1
		case a.lt < c.lt:
			return 1
		}
		return 0
	})
	b.transactions, b.bytes = held, size+len(held)*heldOverhead
}

// hasAny is false when the bundle has no transactions of some accounts.
func (b *bundle) hasAny(accounts []Address) bool {
	for i := range accounts {
		if _, found := slices.BinarySearch(b.accounts, schema.Prefix(accounts[i][4:])); found {
			return true
		}
	}
	return false
}

// unpack reads the blocks of a bundle.
func (b *bundle) unpack() []*record.Block {
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

// bundle finds the bundle of a masterchain block.
func (h *head) bundle(mcSeqno uint32) *bundle {
	i, found := sort.Find(len(h.bundles), func(i int) int {
		return int(int64(mcSeqno) - int64(h.bundles[i].mcSeqno))
	})
	if !found {
		return nil
	}
	return h.bundles[i]
}

// reaches says that the head ends with the watermark.
func (h *head) reaches(watermark uint32) bool {
	return len(h.bundles) > 0 && h.bundles[len(h.bundles)-1].mcSeqno == watermark
}

// measure fills the greatest values before each bundle.
func (h *head) measure() {
	h.blocksBefore = make([]uint32, len(h.bundles))
	h.transactionsBefore = make([]reach, len(h.bundles))
	utime, far := h.outsideBlocks, h.outsideTransactions
	for i, b := range h.bundles {
		h.blocksBefore[i], h.transactionsBefore[i] = utime, far
		utime = max(utime, b.blocksUtime)
		if i >= h.withTransactions {
			far = far.and(b.reach)
		}
	}
}

// fromHead gives all candidates of a list when the head holds enough of it.
func (l *transactionList) fromHead() ([]*record.Transaction, bool) {
	f, h := l.filter, &l.view.head
	if len(f.Hashes) > 0 || f.Lt != nil {
		return nil, false
	}
	if f.McSeqno != nil {
		b := h.bundle(uint32(*f.McSeqno))
		if b == nil || b.transactions == nil {
			return nil, false
		}
		return l.unpack(b.transactions, 0)
	}
	if len(f.Accounts) > mostSought || f.Seqno != nil || f.Shard != nil || !l.order.descending || !h.reaches(l.view.Watermark) {
		return nil, false
	}
	return l.newest(h)
}

// mostSought is how many accounts are looked for in the head.
const mostSought = 8

// newest collects from the newest bundle on until nothing older can come before
// the end of the page.
func (l *transactionList) newest(h *head) ([]*record.Transaction, bool) {
	need := l.page.Offset + l.page.Limit + 1
	var found []heldRecord
	for i := len(h.bundles) - 1; i >= h.withTransactions; i-- {
		if len(l.filter.Accounts) > 0 && !h.bundles[i].hasAny(l.filter.Accounts) {
			continue
		}
		for _, t := range h.bundles[i].transactions {
			if l.wanted(&t) {
				found = append(found, t)
			}
		}
		if len(found) < need {
			continue
		}
		if l.certain(found, h.transactionsBefore[i]) >= need {
			slices.SortFunc(found, l.compareHeld)
			return l.unpack(found, need)
		}
	}
	return nil, false
}

// certain counts the rows that nothing older can come before. Rows that share
// the cursor's keys do not count: they may be those before it.
func (l *transactionList) certain(found []heldRecord, before reach) (n int) {
	for _, t := range found {
		newer := l.order.by == byTime && t.now > before.now || l.order.by == byLt && t.lt > before.lt
		if newer && (l.after == nil || l.compareHeld(t, heldRecord{lt: l.after.Lt, now: l.after.Now}) > 0) {
			n++
		}
	}
	return n
}

// compareHeld is the order of the list as far as held keys tell it.
func (l *transactionList) compareHeld(a, b heldRecord) int {
	return -transactionOrder{by: l.order.by}.compare(TransactionKey{Now: a.now, Lt: a.lt}, TransactionKey{Now: b.now, Lt: b.lt})
}

// wanted checks what can be told without the record.
func (l *transactionList) wanted(t *heldRecord) bool {
	f := l.filter
	if f.Workchain != nil && schema.Workchain(t.account[:]) != *f.Workchain || !f.Utime.has(uint64(t.now)) || !f.Lts.has(t.lt) {
		return false
	}
	if len(f.Accounts) > 0 && !slices.Contains(f.Accounts, t.account) {
		return false
	}
	// Not after the cursor for sure; the rest is checked with the account.
	return l.after == nil || l.compareHeld(*t, heldRecord{lt: l.after.Lt, now: l.after.Now}) >= 0
}

// unpack reads records behind the cursor, need of them and all that share the
// last one's keys; 0 means all.
func (l *transactionList) unpack(held []heldRecord, need int) ([]*record.Transaction, bool) {
	var list []*record.Transaction
	for i, t := range held {
		if need > 0 && len(list) >= need && l.compareHeld(held[i-1], t) != 0 {
			break
		}
		Yield(i)
		tx, ok := t.unpack()
		if !ok {
			return nil, false
		}
		if l.after == nil || l.order.compare(KeyOf(tx), *l.after) > 0 {
			list = append(list, tx)
		}
	}
	return list, true
}

// blocksOf is the blocks of a masterchain block's bundle, if held.
func (h *head) blocksOf(mcSeqno uint32) ([]*record.Block, bool) {
	b := h.bundle(mcSeqno)
	if b == nil {
		return nil, false
	}
	return b.unpack(), true
}

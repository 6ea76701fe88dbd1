package synthetic

import (
	"fmt"
	"math/bits"
)

// readAccounts walks ShardAccountBlocks: HashmapAugE 256 AccountBlock.
func (t *template) readAccounts() error {
	blocks := &t.nodes[t.nodes[t.extra].refs[2]]
	if !bitAt(blocks.data, 0) {
		return nil
	}
	return t.readAccountNode(blocks.refs[0], 0)
}

func (t *template) readAccountNode(i int32, depth int) error {
	n := &t.nodes[i]
	l := readLabel(n.data, 0, 256-depth)
	if !t.master {
		var ok bool
		if l, ok = spellOut(n, l, 256-depth); !ok {
			return fmt.Errorf("%w: a label without room", errTemplate)
		}
		t.addKey(i, l.at, depth, l.size)
	}
	if depth += l.size; depth == 256 {
		return t.readAccountBlock(i, l.end)
	}
	if !t.master {
		t.forks = append(t.forks, forkPlace{i, depth})
		n.dirty = true
	}
	left, right := n.refs[0], n.refs[1]
	if err := t.readAccountNode(left, depth+1); err != nil {
		return err
	}
	return t.readAccountNode(right, depth+1)
}

// readAccountBlock reads a leaf: the fees, then acc_trans#5 account_addr:bits256
// transactions:(HashmapAug 64 ^Transaction CurrencyCollection) state_update.
func (t *template) readAccountBlock(i int32, at int) error {
	n := &t.nodes[i]
	refs := 0
	at = skipCurrencies(n, at, &refs)
	if bitsAt(n.data, at, 4) != 5 {
		return fmt.Errorf("%w: account block without its tag", errTemplate)
	}
	t.addKey(i, at+4, 0, 256)
	return t.readTransactions(i, at+260, refs, 64)
}

// readTransactions reads a node of the dictionary of an account's transactions,
// which for the root of it sits inside the account block.
func (t *template) readTransactions(i int32, at, refs, left int) error {
	n := &t.nodes[i]
	l := readLabel(n.data, at, left)
	if left == 64 {
		if l.same || l.size < 64-t.windowBits {
			return fmt.Errorf("%w: logical times far apart", errTemplate)
		}
		t.tops = append(t.tops, place{i, l.at})
		n.dirty = true
	}
	if left -= l.size; left == 0 {
		skipCurrencies(n, l.end, &refs)
		return t.readTransaction(n.refs[refs])
	}
	for j := range 2 {
		if err := t.readTransactions(n.refs[refs+j], 0, 0, left-1); err != nil {
			return err
		}
	}
	return nil
}

// Where the fields of Transaction are (block.tlb).
const (
	transactionAccount  = 4
	transactionLT       = 260
	transactionPrevHash = 324
	transactionPrevLT   = 580
	transactionNow      = 644
	transactionOutCount = 676
)

func (t *template) readTransaction(i int32) error {
	n := &t.nodes[i]
	if bitsAt(n.data, 0, 4) != 7 {
		return fmt.Errorf("%w: transaction without its tag", errTemplate)
	}
	tx := transactionPlace{node: i, lt: bitsAt(n.data, transactionLT, 64)}
	copyBits(tx.account[:], 0, n.data, transactionAccount, 256)
	t.transactions = append(t.transactions, tx)
	t.windowBits = max(t.windowBits, bits.Len64(tx.lt^t.startLT))
	t.addKey(i, transactionAccount, 0, 256)
	t.addLT(i, transactionLT)
	t.addUtime(i, transactionNow)
	t.messages += int(bitsAt(n.data, transactionOutCount, 15))

	io := &t.nodes[n.refs[0]]
	refs := 0
	if bitAt(io.data, 0) {
		t.messages++
		t.readMessage(io.refs[0])
		refs++
	}
	if bitAt(io.data, 1) {
		t.readMessages(io.refs[refs], 15)
	}
	return nil
}

// readMessages walks HashmapE 15 ^(Message Any).
func (t *template) readMessages(i int32, left int) {
	n := &t.nodes[i]
	if left -= readLabel(n.data, 0, left).size; left == 0 {
		t.readMessage(n.refs[0])
		return
	}
	t.readMessages(n.refs[0], left-1)
	t.readMessages(n.refs[1], left-1)
}

func (t *template) addKey(node int32, at, from, size int) {
	if !t.master {
		t.keys = append(t.keys, keyPlace{place{node, at}, from, size})
		t.nodes[node].dirty = true
	}
}

func (t *template) addLT(node int32, at int) {
	n := &t.nodes[node]
	t.lts = append(t.lts, numberPlace{place{node, at}, bitsAt(n.data, at, 64)})
	n.dirty = true
}

func (t *template) addUtime(node int32, at int) {
	n := &t.nodes[node]
	t.utimes = append(t.utimes, numberPlace{place{node, at}, bitsAt(n.data, at, 32)})
	n.dirty = true
}

// skipCurrencies passes a CurrencyCollection and counts its reference.
func skipCurrencies(n *node, at int, refs *int) int {
	at = skipCoins(n, at)
	if bitAt(n.data, at) {
		*refs++
	}
	return at + 1
}

// skipCoins passes Grams: VarUInteger 16.
func skipCoins(n *node, at int) int { return at + 4 + 8*int(bitsAt(n.data, at, 4)) }

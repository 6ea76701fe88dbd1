package synthetic

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"tonscribe/decode"
	"tonscribe/schema/record"
)

// The state update of a template is not that of the real block, whose cells
// cannot be re-keyed, but one of its own: the old state is pruned away, the new
// one shows the accounts that the block changes, with data of one cell. Balances
// follow from the transactions, and every state is the one that the transactions
// name.

// statePlace is an account of the new state.
type statePlace struct {
	key   [32]byte
	known int // the account's number in the ledger
	// transactions are its own, by lt, as indexes.
	transactions []int
	status       record.AccountStatus // in the end
	// Nodes; 0 without the account in the end.
	account, data, leaf int32
}

// flow is what a transaction does to its account.
type flow struct {
	update     int32 // node of HASH_UPDATE
	received   uint64
	spent      uint64
	orig, ends record.AccountStatus
}

// Where the fields are that change, in the cells made here.
const (
	accountKey     = 12
	accountLastLT  = accountKey + 256 + 11 + 19 + 3 + 33
	accountBalance = accountLastLT + 64 + 4
	dataCounter    = 0
	dataBytes      = 41
	leafExtra      = 10 // DepthBalanceInfo: no split, no coins, no others
	updateOld      = 8
	updateNew      = updateOld + 256

	firstBalance = 1_000_000_000_000_000_000
	codeKinds    = 16
)

// add makes a live cell of bytes that end with its last bit.
func (g *graph) add(data []byte, bits int, refs ...int32) int32 {
	n := node{data: data, bits: bits, d1: byte(len(refs)), live: true, dirty: true}
	for j, r := range refs {
		n.refs[j] = r
		n.depth = max(n.depth, g.nodes[r].depth+1)
	}
	g.nodes = append(g.nodes, n)
	i := int32(len(g.nodes) - 1)
	g.rehash(i)
	return i
}

// addSpecial makes an exotic cell without references.
func (g *graph) addSpecial(level byte, data []byte) int32 {
	i := g.add(data, 8*len(data))
	n := &g.nodes[i]
	n.d1 |= 8 | level<<5
	n.live, n.dirty = false, false
	g.rehash(i)
	return i
}

// readStates replaces the state update of the block.
func (t *template) readStates(boc []byte) error {
	block, err := decode.Block(boc, 1)
	if err != nil {
		return fmt.Errorf("%w: %w", errTemplate, err)
	}
	byLT := map[string]*record.Transaction{}
	name := func(account []byte, lt uint64) string { return fmt.Sprintf("%x %d", account, lt) }
	for _, tx := range block.Transactions {
		byLT[name(tx.Account[4:], tx.Lt)] = tx
	}
	accounts := map[[32]byte]*statePlace{}
	for i := range t.transactions {
		place := &t.transactions[i]
		tx := byLT[name(place.account[:], place.lt)]
		if tx == nil {
			return fmt.Errorf("%w: transaction %d is not in the block", errTemplate, place.lt)
		}
		if movesExtra(tx) {
			return fmt.Errorf("%w: extra currencies", errTemplate)
		}
		t.addFlow(place, tx)
		s := accounts[place.account]
		if s == nil {
			s = &statePlace{key: place.account}
			accounts[place.account] = s
		}
		s.transactions, s.status = append(s.transactions, i), tx.EndStatus
	}
	for _, s := range accounts {
		t.states = append(t.states, *s)
	}
	sort.Slice(t.states, func(i, j int) bool { return bytes.Compare(t.states[i].key[:], t.states[j].key[:]) < 0 })
	t.addUpdate()
	return nil
}

// movesExtra says that a transaction has to do with extra currencies, which the
// accounts made here do not have.
func movesExtra(tx *record.Transaction) bool {
	return len(tx.Credit.GetCreditExtra()) > 0 || len(tx.TotalFeesExtra) > 0 ||
		slices.ContainsFunc(tx.OutMsgs, func(m *record.Message) bool { return len(m.ValueExtra) > 0 })
}

func (t *template) addFlow(place *transactionPlace, tx *record.Transaction) {
	f := flow{received: tx.Credit.GetCredit(), spent: tx.TotalFees, orig: tx.OrigStatus, ends: tx.EndStatus}
	for _, m := range tx.OutMsgs {
		if m.Kind == record.Message_INTERNAL {
			f.spent += m.Value + m.FwdFee + m.IhrFee
		}
	}
	data := append(append([]byte{0x72}, tx.StateHashBefore...), tx.StateHashAfter...)
	f.update = t.add(data, 8*len(data))
	n := &t.nodes[place.node]
	n.refs[n.refCount()-2] = f.update
	n.dirty = true
	place.flow = f
}

// addUpdate makes the MERKLE_UPDATE and all below it.
func (t *template) addUpdate() {
	var there []*statePlace
	for i := range t.states {
		if t.states[i].status != record.AccountStatus_ACCOUNT_NONEXIST {
			there = append(there, &t.states[i])
		}
	}
	dictionary := make([]byte, 2) // a bit, and the extra
	bitCount := 1 + leafExtra
	var refs []int32
	if len(there) > 0 {
		dictionary[0] = 0x80
		refs = []int32{t.addStateNode(there, 0)}
	}
	accounts := t.add(dictionary, bitCount, refs...)
	state := t.add(binary.BigEndian.AppendUint32(nil, 0x9023afe2), 32, t.add(nil, 0), accounts)

	pruned := []byte{1, 1}
	old := sha256.Sum256([]byte(t.name)) // a state that nobody has
	pruned = append(append(pruned, old[:]...), 0, 1)
	update := make([]byte, 1+2*(32+2))
	update[0] = 4
	copy(update[1:], old[:])
	copy(update[1+32:], t.nodes[state].hash[:])
	binary.BigEndian.PutUint16(update[1+64:], 1)
	binary.BigEndian.PutUint16(update[1+64+2:], t.nodes[state].depth)
	t.update, t.newState = t.add(update, 8*len(update), t.addSpecial(1, pruned), state), state
	t.nodes[t.update].d1 |= 8
	t.nodes[0].refs[2] = t.update
}

// addStateNode makes the node of ShardAccounts above some accounts, which share
// the first bits of their keys.
func (t *template) addStateNode(list []*statePlace, depth int) int32 {
	first, last := list[0].key, list[len(list)-1].key
	size := 256 - depth
	if len(list) > 1 {
		for size = 0; bitAt(first[:], depth+size) == bitAt(last[:], depth+size); {
			size++
		}
	}
	width := bits.Len(uint(256 - depth))
	data := make([]byte, 128)
	putBits(data, 0, 2, 0b10) // hml_long
	putBits(data, 2, width, uint64(size))
	copyBits(data, 2+width, first[:], depth, size)
	end := 2 + width + size + leafExtra
	if len(list) == 1 {
		s := list[0]
		t.addAccount(s)
		end += 256 + 64
		s.leaf = t.add(data[:(end+7)/8], end, s.account)
		t.addKey(s.leaf, 2+width, depth, size)
		return s.leaf
	}
	split := sort.Search(len(list), func(i int) bool { return bitAt(list[i].key[:], depth+size) })
	left, right := t.addStateNode(list[:split], depth+size+1), t.addStateNode(list[split:], depth+size+1)
	fork := t.add(data[:(end+7)/8], end, left, right)
	t.addKey(fork, 2+width, depth, size)
	if !t.master {
		t.forks = append(t.forks, forkPlace{fork, depth + size})
	}
	return fork
}

// addAccount makes account$1 with room for every field.
func (t *template) addAccount(s *statePlace) {
	data := make([]byte, 128)
	putBits(data, 0, 4, 0b1100) // account$1, addr_std$10, no anycast
	if t.master {
		putBits(data, 4, 8, 0xff)
	}
	copyBits(data, accountKey, s.key[:], 0, 256)
	at := accountKey + 256
	putBits(data, at, 11, 1<<8|3)        // cells
	putBits(data, at+11, 19, 2<<16|1000) // bits
	at += 11 + 19 + 3
	putBits(data, at, 32, uint64(t.genUtime)) // last_paid, no due_payment
	at += 33 + 64
	putBits(data, at, 4, 8) // balance of 8 bytes
	at += 4 + 64 + 1
	var refs []int32
	switch s.status {
	case record.AccountStatus_ACCOUNT_ACTIVE:
		putBits(data, at, 6, 0b100110)
		at += 6
		content := make([]byte, dataBytes)
		copy(content[4:], s.key[:])
		s.data = t.add(content, 8*dataBytes)
		refs = []int32{t.addCode(s.key[31] % codeKinds), s.data}
	case record.AccountStatus_ACCOUNT_FROZEN:
		putBits(data, at, 2, 0b01)
		at += 2 + 256
	default:
		at += 2
	}
	s.account = t.add(data[:(at+7)/8], at, refs...)
	t.addKey(s.account, accountKey, 0, 256)
}

// addCode is a library cell, as the code of many contracts is one.
func (t *template) addCode(kind byte) int32 {
	hash := sha256.Sum256([]byte{'c', kind})
	return t.addSpecial(0, append([]byte{2}, hash[:]...))
}

// putStates gives the accounts the states after this block, and the transactions
// the hashes of their states. Accounts hash before transactions, and the leaves
// that name both come later.
func (t *template) putStates(ledger []last, shift uint64) {
	for i := range t.states {
		s := &t.states[i]
		l := &ledger[s.known]
		first := &t.transactions[s.transactions[0]]
		before, balance := l.before(first)
		for _, k := range s.transactions {
			tx := &t.transactions[k]
			balance += tx.flow.received - tx.flow.spent
			data := t.nodes[tx.flow.update].data
			copyBits(data, updateOld, before[:], 0, 256)
			if tx.flow.ends == record.AccountStatus_ACCOUNT_NONEXIST {
				copy(before[:], noAccount)
			} else {
				seeded(before[:], uint64(s.known), kindState, tx.lt+shift)
			}
			copyBits(data, updateNew, before[:], 0, 256)
		}
		l.status, l.balance, l.visits = s.status, balance, l.visits+1
		if s.account != 0 {
			before = t.putAccount(s, balance, l.visits, shift)
			copyBits(t.nodes[t.transactions[s.transactions[len(s.transactions)-1]].flow.update].data, updateNew, before[:], 0, 256)
		}
		l.state = before
	}
}

// before is the state that the account's next transaction finds.
func (l *last) before(next *transactionPlace) (hash [32]byte, balance uint64) {
	switch {
	case next.flow.orig == record.AccountStatus_ACCOUNT_NONEXIST:
		copy(hash[:], noAccount)
	case l.visits > 0 && l.status == next.flow.orig:
		return l.state, l.balance
	default: // a state that nobody has seen
		seeded(hash[:], uint64(next.known), kindState, uint64(l.visits))
		balance = firstBalance
	}
	return hash, balance
}

func (t *template) putAccount(s *statePlace, balance uint64, visits uint32, shift uint64) [32]byte {
	if s.data != 0 {
		putBits(t.nodes[s.data].data, dataCounter, 32, uint64(visits))
		t.rehash(s.data)
	}
	data := t.nodes[s.account].data
	putBits(data, accountLastLT, 64, t.transactions[s.transactions[len(s.transactions)-1]].lt+shift+1)
	putBits(data, accountBalance, 64, balance)
	t.rehash(s.account)
	return t.nodes[s.account].hash
}

// putLeaf tells the leaf of an account its last transaction.
func (t *template) putLeaf(s *statePlace, ledger []last) {
	n, l := &t.nodes[s.leaf], &ledger[s.known]
	at := n.bits - 256 - 64
	copyBits(n.data, at, l.hash[:], 0, 256)
	putBits(n.data, at+256, 64, l.lt)
}

// leaves are the accounts by the node of their leaf.
func (t *template) leafPlaces() map[int32]*statePlace {
	places := map[int32]*statePlace{}
	for i := range t.states {
		if s := &t.states[i]; s.leaf != 0 {
			places[s.leaf] = s
		}
	}
	return places
}

// own are the nodes whose hashes come first, whatever they hold.
func (t *template) stateNodes() []int32 {
	var list []int32
	for i := range t.states {
		if s := &t.states[i]; s.account != 0 {
			list = append(list, s.account)
		}
	}
	return slices.Clip(list)
}

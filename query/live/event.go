package live

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"tonscribe/decode/action"
	"tonscribe/query/api"
	"tonscribe/query/render"
	"tonscribe/query/rows"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// bundle is the events of a bundle.
type bundle struct {
	mcSeqno uint32
	events  []*event
	bytes   atomic.Int64 // about what it takes
}

// event is one that some clients get, each as much of it as concerns it. What several get
// alike is rendered once.
type event struct {
	kind     kind
	position Position
	of       *traced             // of transactions, actions and trace
	tx       *record.Transaction // of account_state_change: the last of the account
	wallet   *record.Contract    // of jettons_change, and of a gap in their place

	mu       sync.Mutex
	variants map[variant][]byte
	size     *atomic.Int64 // of the bundle; nil where that is not held
}

// variant is what tells rendered events apart.
type variant struct {
	choice choice
	style  style
}

// traced is a trace as events show it. Its parts are rendered when they are first asked
// for.
type traced struct {
	hash Hash // that events name it by
	row  render.TraceRow
	// fresh are the transactions that the event is of: those of the bundle, or all.
	fresh map[*record.Transaction]bool
	// all are the transactions that events show, the newest first.
	all []*record.Transaction

	rendering    sync.Once
	transactions []fragment
	actions      []fragment
	tree         []byte

	naming sync.Once
	tokens []map[address.Address]bool // what each action names
}

// fragment is a rendered row and the addresses in it.
type fragment struct {
	json []byte
	book []address.Address
}

// newBundle makes the events of a bundle: those of its traces in the order of their first
// transactions in it, then what became of its accounts, in the order of their last ones.
// A number belongs to a transaction and a kind, so that it is the same wherever the bundle
// is read, and whatever else is known of it.
func newBundle(b *rows.Bundle) *bundle {
	made := &bundle{mcSeqno: b.MCSeqno}
	n := uint32(len(b.Transactions))
	seen := make(map[int]bool, len(b.Traces))
	for i, tx := range b.Transactions {
		var t *traced
		switch at := b.TraceOf[i]; {
		case at < 0:
			t = alone(tx)
		case seen[at]:
			continue
		default:
			seen[at] = true
			t = newTraced(b.Traces[at], b.Of(at))
		}
		for k := transactionsKind; k <= traceKind; k++ {
			if k == actionsKind && len(t.row.Actions) == 0 || k == traceKind && t.row.Tree == nil {
				continue
			}
			made.add(&event{kind: k, position: Position{b.MCSeqno, 3*uint32(i) + uint32(k)}, of: t})
		}
	}
	last := make(map[address.Address]int, n)
	for i, tx := range b.Transactions {
		last[address.Address(tx.Account)] = i
	}
	for i, tx := range b.Transactions {
		if a := address.Address(tx.Account); last[a] == i {
			at := 3*n + 2*uint32(i)
			made.add(&event{kind: stateKind, position: Position{b.MCSeqno, at}, tx: tx})
			if c := b.Wallets[a]; c != nil {
				made.add(&event{kind: jettonsKind, position: Position{b.MCSeqno, at + 1}, wallet: c})
			} else if c := b.Overwritten[a]; c != nil {
				made.add(&event{kind: gapKind, position: Position{b.MCSeqno, at + 1}, wallet: c})
			}
		}
	}
	// What is said of accounts without a transaction was found out later than it happened.
	var late []address.Address
	for a := range b.Wallets {
		if _, touched := last[a]; !touched {
			late = append(late, a)
		}
	}
	slices.SortFunc(late, func(a, b address.Address) int { return bytes.Compare(a[:], b[:]) })
	for i, a := range late {
		made.add(&event{kind: jettonsKind, position: Position{b.MCSeqno, 5*n + uint32(i)}, wallet: b.Wallets[a]})
	}
	return made
}

func (b *bundle) add(e *event) {
	const eventBytes = 512
	e.size = &b.bytes
	if e.tx != nil || e.kind == transactionsKind {
		b.bytes.Add(eventBytes)
	}
	if e.kind == transactionsKind {
		for range e.of.all {
			b.bytes.Add(4 * eventBytes)
		}
	}
	b.events = append(b.events, e)
}

// newTraced is a trace of which some transactions are new.
func newTraced(row render.TraceRow, fresh []*record.Transaction) *traced {
	t := &traced{row: row, fresh: make(map[*record.Transaction]bool, len(fresh))}
	if row.Tree == nil { // it is too large to be shown as a whole
		t.all = slices.Clone(fresh)
	} else {
		t.all = slices.Clone(row.Tree.Transactions)
	}
	isFresh := make(map[string]bool, len(fresh))
	for _, tx := range fresh {
		isFresh[string(tx.Hash)] = true
	}
	for _, tx := range t.all {
		t.fresh[tx] = isFresh[string(tx.Hash)]
	}
	slices.SortStableFunc(t.all, func(a, b *record.Transaction) int {
		return cmp.Or(cmp.Compare(b.Lt, a.Lt), bytes.Compare(a.Account, b.Account))
	})
	for _, h := range [][]byte{row.ExternalHashNorm, row.ExternalHash, row.Id} {
		if copy(t.hash[:], h) == len(t.hash) {
			break
		}
	}
	return t
}

// alone is a transaction of whose trace nothing is known.
func alone(tx *record.Transaction) *traced {
	return newTraced(render.TraceRow{Trace: &record.Trace{Id: tx.Hash, ExternalHash: tx.InMsg.GetHash(), ExternalHashNorm: tx.InMsg.GetHashNorm()}}, []*record.Transaction{tx})
}

// foreseen reports whether something that an event of a kind is about is not in a block.
// Of actions and traces, leaves do not count that only tell about what was done.
func (t *traced) foreseen(k kind) bool {
	for _, tx := range t.all {
		if t.row.Foreseen[tx] && !(k != transactionsKind && len(tx.OutMsgs) == 0 && tx.InMsg.GetOpcode() != 0 && notices[tx.InMsg.GetOpcode()]) {
			return true
		}
	}
	return false
}

// notices are the opcodes of jetton transfer notifications, of NFT ownership assigned, and
// of excesses.
var notices = map[uint32]bool{0x7362d09c: true, 0x05138d91: true, 0xd53276db: true}

// prepare renders the parts, all with one budget for bodies.
func (t *traced) prepare() {
	t.rendering.Do(func() {
		w := &api.Writer{Parts: render.ActionAccounts}
		defer w.Done()
		cut := func(write func()) fragment {
			w.JSON, w.Book = nil, api.Book{}
			write()
			f := fragment{json: w.JSON}
			for a := range w.Book {
				f.book = append(f.book, a)
			}
			return f
		}
		for _, tx := range t.all {
			t.transactions = append(t.transactions, cut(func() { render.Transaction.Write(w, t.row.Row(tx)) }))
		}
		for _, a := range t.row.Actions {
			t.actions = append(t.actions, cut(func() { render.Action.Write(w, a) }))
		}
		if t.row.Tree != nil {
			t.tree = cut(func() { render.WriteTree(w, t.row.Tree) }).json
		}
	})
}

// named are the addresses that an action names, as a party or as a token.
func (t *traced) named(i int) map[address.Address]bool {
	t.naming.Do(func() {
		for _, a := range t.row.Actions {
			named := map[address.Address]bool{}
			addAddresses(named, a.Details)
			t.tokens = append(t.tokens, named)
		}
	})
	return t.tokens[i]
}

// addAddresses adds all addresses among the details of an action.
func addAddresses(set map[address.Address]bool, details []action.Value) {
	for _, v := range details {
		switch v := v.(type) {
		case action.Address:
			if len(v) == address.Size {
				set[address.Address(v)] = true
			}
		case []action.Address:
			for _, a := range v {
				addAddresses(set, []action.Value{a})
			}
		case []action.Value:
			addAddresses(set, v)
		case [][]action.Value:
			for _, d := range v {
				addAddresses(set, d)
			}
		}
	}
}

// choice is what a client gets of an event: a set of transactions or actions by their
// numbers. Choices of the same are equal.
type choice struct {
	low  uint64 // the bits of the first ones
	high string // those of the others, eight each
}

// lowBits is how many a choice has without taking memory.
const lowBits = 64

func choose(n int, wanted func(int) bool) (c choice) {
	for i := range min(n, lowBits) {
		if wanted(i) {
			c.low |= 1 << i
		}
	}
	if n <= lowBits {
		return c
	}
	high := make([]byte, (n-lowBits+7)/8)
	some := false
	for i := range n - lowBits {
		if wanted(lowBits + i) {
			high[i/8] |= 1 << (i % 8)
			some = true
		}
	}
	if some {
		c.high = string(high)
	}
	return c
}

// empty reports whether nothing is chosen.
func (c choice) empty() bool { return c == choice{} }

// rows are the numbers that are chosen, in order.
func (c choice) rows(visit func(int)) {
	for low := c.low; low != 0; low &= low - 1 {
		visit(bits.TrailingZeros64(low))
	}
	for i := range len(c.high) {
		for b := c.high[i]; b != 0; b &= b - 1 {
			visit(lowBits + 8*i + bits.TrailingZeros8(b))
		}
	}
}

// chosen returns what a subscription wants of an event; it is false where that is nothing.
// Unsettled says that the client got a part of the trace before it was final.
func (e *event) chosen(s *subscription, unsettled bool) (choice, bool) {
	if !s.types[e.kind] {
		return choice{}, false
	}
	switch e.kind {
	case transactionsKind:
		return e.of.chosenTransactions(s, unsettled)
	case actionsKind:
		c := e.of.chosenActions(s, false)
		return c, !c.empty()
	case traceKind:
		if _, named := s.traces[e.of.hash]; !named && !s.everything {
			return choice{}, false
		}
		return e.of.chosenActions(s, true), true
	case stateKind:
		return choice{}, s.wants(e.tx.Account)
	}
	return choice{}, s.wants(e.wallet.Account) || s.wants(e.wallet.JettonWallet.Owner) || s.wantsToken(e.wallet.JettonWallet.Master)
}

func (t *traced) chosenTransactions(s *subscription, unsettled bool) (choice, bool) {
	news := false
	c := choose(len(t.all), func(i int) bool {
		tx := t.all[i]
		wanted := s.wants(tx.Account) && (s.bodyHash == nil || bytes.Equal(tx.InMsg.GetBodyHash(), s.bodyHash)) &&
			(s.opcodes == nil || tx.InMsg != nil && tx.InMsg.Opcode != nil && s.opcodes[*tx.InMsg.Opcode])
		news = news || wanted && t.fresh[tx]
		return wanted
	})
	return c, !c.empty() && (news || unsettled)
}

// chosenActions are the actions that concern the subscription, or all of the trace, as far
// as they are of its types.
func (t *traced) chosenActions(s *subscription, all bool) choice {
	return choose(len(t.row.Actions), func(i int) bool {
		a := t.row.Actions[i]
		return (s.actionTypes == nil || s.actionTypes[a.TypeName()] || s.actionTypes[a.Type.Name]) && a.Shown(s.supported.types) &&
			(all || slices.ContainsFunc(a.Accounts, func(account action.Address) bool { return s.wants(account) || s.wantsToken(account) }) || t.names(i, s))
	})
}

// names reports whether an action names a token of the subscription.
func (t *traced) names(i int, s *subscription) bool {
	if len(s.tokens) == 0 {
		return false
	}
	for a := range t.named(i) {
		if _, named := s.tokens[a]; named {
			return true
		}
	}
	return false
}

// render returns the JSON of what a subscription gets of the event, the same bytes for
// all who get the same.
func (e *event) render(ctx context.Context, book books, s *subscription, c choice) []byte {
	v := variant{c, s.style}
	e.mu.Lock()
	defer e.mu.Unlock()
	if made, ok := e.variants[v]; ok {
		return made
	}
	made := e.write(ctx, book, s, c)
	if e.variants == nil {
		e.variants = map[variant][]byte{}
	}
	e.variants[v] = made
	if e.size != nil {
		e.size.Add(int64(len(made) + len(c.high)))
	}
	return made
}

// books tells what addresses are.
type books struct {
	index *rows.Reader
	fail  func(error)
}

func (e *event) write(ctx context.Context, b books, s *subscription, c choice) []byte {
	w := &api.Writer{Book: api.Book{}}
	defer w.Done()
	w.JSON = append(append(w.JSON, `{"type":"`...), kindNames[e.kind]...)
	w.JSON = e.position.Append(append(w.JSON, `","position":"`...))
	if e.kind == gapKind {
		w.JSON = append(append(append(w.JSON, `","missed":"`...), kindNames[jettonsKind]...), `","account":`...)
		return append(api.AppendAddress(w.JSON, e.wallet.Account), '}')
	}
	w.JSON = append(w.JSON, `","finality":"`...)
	w.JSON = append(append(w.JSON, render.Finality(e.of != nil && e.of.foreseen(e.kind))...), '"')
	if e.of != nil {
		e.of.prepare()
		w.JSON = append(w.JSON, `,"trace_external_hash_norm":"`...)
		w.JSON = append(base64.StdEncoding.AppendEncode(w.JSON, e.of.hash[:]), '"')
	}
	switch e.kind {
	case transactionsKind:
		writeFragments(w, "transactions", e.of.transactions, c)
	case actionsKind:
		writeFragments(w, "actions", e.of.actions, c)
	case traceKind:
		e.of.writeTrace(w, c)
	case stateKind:
		w.JSON = api.AppendAddress(append(w.JSON, `,"account":`...), e.tx.Account)
		w.JSON = append(w.JSON, `,"state":`...)
		render.WriteStateAfter(w, e.tx)
	case jettonsKind:
		w.JSON = append(w.JSON, `,"jetton":`...)
		render.JettonWallet.Write(w, render.JettonWalletRow{Contract: e.wallet}) // what can be claimed does not follow from the chain
	}
	if e.kind != stateKind {
		b.write(ctx, w, s)
	}
	w.JSON = append(w.JSON, '}')
	return w.JSON
}

func writeFragments(w *api.Writer, name string, all []fragment, c choice) {
	w.JSON = append(append(append(w.JSON, `,"`...), name...), `":[`...)
	some := false
	c.rows(func(i int) {
		if some {
			w.JSON = append(w.JSON, ',')
		}
		some = true
		add(w, all[i])
	})
	w.JSON = append(w.JSON, ']')
}

func (t *traced) writeTrace(w *api.Writer, c choice) {
	w.JSON = append(append(w.JSON, `,"trace":`...), t.tree...)
	w.JSON = append(w.JSON, `,"transactions":{`...)
	for i, f := range t.transactions {
		if i > 0 {
			w.JSON = append(w.JSON, ',')
		}
		w.JSON = base64.StdEncoding.AppendEncode(append(w.JSON, '"'), t.all[i].Hash)
		w.JSON = append(w.JSON, `":`...)
		add(w, f)
	}
	w.JSON = append(w.JSON, '}')
	writeFragments(w, "actions", t.actions, c)
}

// add appends a fragment.
func add(w *api.Writer, f fragment) {
	w.JSON = append(w.JSON, f.json...)
	for _, a := range f.book {
		w.Book[a] = struct{}{}
	}
}

// write appends what is known of the addresses, as far as the client wants it. What cannot
// be read is empty: the event is worth more without it than late.
func (b books) write(ctx context.Context, w *api.Writer, s *subscription) {
	for _, member := range []struct {
		wanted bool
		empty  string
		write  func(context.Context, []byte, api.Book) ([]byte, error)
	}{
		{s.style.addressBook, `,"address_book":{}`, b.index.AppendAddressBook},
		{s.style.metadata, `,"metadata":{}`, b.index.AppendMetadata},
	} {
		if !member.wanted {
			continue
		}
		before := len(w.JSON)
		written, err := member.write(ctx, w.JSON, w.Book)
		if err != nil {
			b.fail(err)
			written = append(w.JSON[:before], member.empty...)
		}
		w.JSON = written
	}
}

package events

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
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

// Bundle is the events of a bundle.
type Bundle struct {
	MCSeqno uint32
	Events  []*Event
	Bytes   atomic.Int64 // about what it takes
}

// Event is one that some clients get, each as much of it as concerns it. What several get
// alike is rendered once.
type Event struct {
	Kind     Kind
	Position Position
	Of       *Trace              // of transactions, actions and trace
	Tx       *record.Transaction // of account_state_change: the last of the account
	Wallet   *record.Contract    // of jettons_change, and of a gap in their place

	mu       sync.Mutex
	variants map[variant][]byte
	held     int           // bytes of the variants
	size     *atomic.Int64 // of the bundle; nil where that is not held
}

// maxHeld is how many bytes of variants an event holds that has several. Clients choose as they like: what
// is more is rendered again for each who wants it.
const maxHeld = 16 << 20

// variant is what tells rendered events apart.
type variant struct {
	choice Choice
	style  style
}

// Trace is a trace as events show it. Its parts are rendered when they are first asked
// for.
type Trace struct {
	Hash Hash // that events name it by
	Row  render.TraceRow
	// Fresh are the transactions that the event is of: those of the bundle, or all.
	Fresh map[*record.Transaction]bool
	// All are the transactions that events show, the newest first.
	All []*record.Transaction

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

// NewBundle makes the events of a bundle: those of its traces in the order of their first
// transactions in it, then what became of its accounts, in the order of their last ones.
// A number belongs to a transaction and a kind, so that it is the same wherever the bundle
// is read, and whatever else is known of it.
func NewBundle(b *rows.Bundle) *Bundle {
	made := &Bundle{MCSeqno: b.MCSeqno}
	n := uint32(len(b.Transactions))
	seen := make(map[int]bool, len(b.Traces))
	for i, tx := range b.Transactions {
		var t *Trace
		switch at := b.TraceOf[i]; {
		case at < 0:
			t = alone(tx)
		case seen[at]:
			continue
		default:
			seen[at] = true
			t = NewTrace(b.Traces[at], b.Of(at))
		}
		for k := TransactionsKind; k <= TraceKind; k++ {
			if k == ActionsKind && len(t.Row.Actions) == 0 || k == TraceKind && t.Row.Tree == nil {
				continue
			}
			made.add(&Event{Kind: k, Position: Position{b.MCSeqno, 3*uint32(i) + uint32(k)}, Of: t})
		}
	}
	last := make(map[address.Address]int, n)
	for i, tx := range b.Transactions {
		last[address.Address(tx.Account)] = i
	}
	for i, tx := range b.Transactions {
		if a := address.Address(tx.Account); last[a] == i {
			at := 3*n + 2*uint32(i)
			made.add(&Event{Kind: StateKind, Position: Position{b.MCSeqno, at}, Tx: tx})
			if c := b.Wallets[a]; c != nil {
				made.add(&Event{Kind: JettonsKind, Position: Position{b.MCSeqno, at + 1}, Wallet: c})
			} else if c := b.Overwritten[a]; c != nil {
				made.add(&Event{Kind: GapKind, Position: Position{b.MCSeqno, at + 1}, Wallet: c})
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
		made.add(&Event{Kind: JettonsKind, Position: Position{b.MCSeqno, 5*n + uint32(i)}, Wallet: b.Wallets[a]})
	}
	return made
}

func (b *Bundle) add(e *Event) {
	const eventBytes = 512
	e.size = &b.Bytes
	if e.Tx != nil || e.Kind == TransactionsKind {
		b.Bytes.Add(eventBytes)
	}
	if e.Kind == TransactionsKind {
		for range e.Of.All {
			b.Bytes.Add(4 * eventBytes)
		}
	}
	b.Events = append(b.Events, e)
}

// NewTrace is a trace of which some transactions are new.
func NewTrace(row render.TraceRow, fresh []*record.Transaction) *Trace {
	t := &Trace{Row: row, Fresh: make(map[*record.Transaction]bool, len(fresh))}
	if row.Tree == nil { // it is too large to be shown as a whole
		t.All = slices.Clone(fresh)
	} else {
		t.All = slices.Clone(row.Tree.Transactions)
	}
	isFresh := make(map[string]bool, len(fresh))
	for _, tx := range fresh {
		isFresh[string(tx.Hash)] = true
	}
	for _, tx := range t.All {
		t.Fresh[tx] = isFresh[string(tx.Hash)]
	}
	slices.SortStableFunc(t.All, func(a, b *record.Transaction) int {
		return cmp.Or(cmp.Compare(b.Lt, a.Lt), bytes.Compare(a.Account, b.Account))
	})
	for _, h := range [][]byte{row.ExternalHashNorm, row.ExternalHash, row.Id} {
		if copy(t.Hash[:], h) == len(t.Hash) {
			break
		}
	}
	return t
}

// alone is a transaction of whose trace nothing is known.
func alone(tx *record.Transaction) *Trace {
	return NewTrace(render.TraceRow{Trace: &record.Trace{Id: tx.Hash, ExternalHash: tx.InMsg.GetHash(), ExternalHashNorm: tx.InMsg.GetHashNorm()}}, []*record.Transaction{tx})
}

// foreseen reports whether something that an event of a kind is about is not in a block.
// Of actions and traces, leaves do not count that only tell about what was done.
func (t *Trace) foreseen(k Kind) bool {
	for _, tx := range t.All {
		if t.Row.Foreseen[tx] && !(k != TransactionsKind && len(tx.OutMsgs) == 0 && tx.InMsg.GetOpcode() != 0 && notices[tx.InMsg.GetOpcode()]) {
			return true
		}
	}
	return false
}

// notices are the opcodes of jetton transfer notifications, of NFT ownership assigned, and
// of excesses.
var notices = map[uint32]bool{0x7362d09c: true, 0x05138d91: true, 0xd53276db: true}

// prepare renders the parts, all with one budget for bodies.
func (t *Trace) prepare() {
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
		for _, tx := range t.All {
			t.transactions = append(t.transactions, cut(func() { render.Transaction.Write(w, t.Row.Row(tx)) }))
		}
		for _, a := range t.Row.Actions {
			t.actions = append(t.actions, cut(func() { render.Action.Write(w, a) }))
		}
		if t.Row.Tree != nil {
			t.tree = cut(func() { render.WriteTree(w, t.Row.Tree) }).json
		}
	})
}

// Named are the addresses that an action names, as a party or as a token.
func (t *Trace) Named(i int) map[address.Address]bool {
	t.naming.Do(func() {
		for _, a := range t.Row.Actions {
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

// Choice is what a client gets of an event: a set of transactions or actions by their
// numbers. Choices of the same are equal.
type Choice struct {
	low  uint64 // the bits of the first ones
	high string // those of the others, eight each
}

// lowBits is how many a choice has without taking memory.
const lowBits = 64

func choose(n int, wanted func(int) bool) (c Choice) {
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
func (c Choice) empty() bool { return c == Choice{} }

// rows are the numbers that are chosen, in order.
func (c Choice) rows(visit func(int)) {
	for low := c.low; low != 0; low &= low - 1 {
		visit(bits.TrailingZeros64(low))
	}
	for i := range len(c.high) {
		for b := c.high[i]; b != 0; b &= b - 1 {
			visit(lowBits + 8*i + bits.TrailingZeros8(b))
		}
	}
}

// Chosen returns what a subscription wants of an event; it is false where that is nothing.
// Unsettled says that the client got a part of the trace before it was final.
func (e *Event) Chosen(s *Subscription, unsettled bool) (Choice, bool) {
	if !s.types[e.Kind] {
		return Choice{}, false
	}
	switch e.Kind {
	case TransactionsKind:
		return e.Of.chosenTransactions(s, unsettled)
	case ActionsKind:
		c := e.Of.chosenActions(s, false)
		return c, !c.empty()
	case TraceKind:
		if _, named := s.traces[e.Of.Hash]; !named && !s.everything {
			return Choice{}, false
		}
		return e.Of.chosenActions(s, true), true
	case StateKind:
		return Choice{}, s.wants(e.Tx.Account)
	}
	return Choice{}, s.wants(e.Wallet.Account) || s.wants(e.Wallet.JettonWallet.Owner) || s.wantsToken(e.Wallet.JettonWallet.Master)
}

func (t *Trace) chosenTransactions(s *Subscription, unsettled bool) (Choice, bool) {
	news := false
	c := choose(len(t.All), func(i int) bool {
		tx := t.All[i]
		wanted := s.wants(tx.Account) && (s.bodyHash == nil || bytes.Equal(tx.InMsg.GetBodyHash(), s.bodyHash)) &&
			(s.opcodes == nil || tx.InMsg != nil && tx.InMsg.Opcode != nil && s.opcodes[*tx.InMsg.Opcode])
		news = news || wanted && t.Fresh[tx]
		return wanted
	})
	return c, !c.empty() && (news || unsettled)
}

// chosenActions are the actions that concern the subscription, or all of the trace, as far
// as they are of its types.
func (t *Trace) chosenActions(s *Subscription, all bool) Choice {
	return choose(len(t.Row.Actions), func(i int) bool {
		a := t.Row.Actions[i]
		return (s.actionTypes == nil || s.actionTypes[a.TypeName()] || s.actionTypes[a.Type.Name]) && a.Shown(s.supported.types) &&
			(all || slices.ContainsFunc(a.Accounts, func(account action.Address) bool { return s.wants(account) || s.wantsToken(account) }) || t.names(i, s))
	})
}

// names reports whether an action names a token of the subscription.
func (t *Trace) names(i int, s *Subscription) bool {
	if len(s.tokens) == 0 {
		return false
	}
	for a := range t.Named(i) {
		if _, named := s.tokens[a]; named {
			return true
		}
	}
	return false
}

// Render returns the JSON of what a subscription gets of the event, the same bytes for
// all who get the same.
func (e *Event) Render(ctx context.Context, book Books, s *Subscription, c Choice) []byte {
	v := variant{c, s.style}
	e.mu.Lock()
	defer e.mu.Unlock()
	if made, ok := e.variants[v]; ok {
		return made
	}
	made := e.write(ctx, book, s, c)
	if ctx.Err() != nil {
		return made // what is known may be missing, of a client that goes
	}
	if e.variants == nil {
		e.variants = map[variant][]byte{}
	}
	n := len(made) + len(c.high)
	if len(e.variants) > 0 && e.held+n > maxHeld {
		return made
	}
	e.held += n
	e.variants[v] = made
	if e.size != nil {
		e.size.Add(int64(n))
	}
	return made
}

// Books tells what addresses are.
type Books struct {
	Index *rows.Reader
	Fail  func(error)
}

func (e *Event) write(ctx context.Context, b Books, s *Subscription, c Choice) []byte {
	w := &api.Writer{Book: api.Book{}}
	defer w.Done()
	w.JSON = append(append(w.JSON, `{"type":"`...), KindNames[e.Kind]...)
	w.JSON = e.Position.Append(append(w.JSON, `","position":"`...))
	if e.Kind == GapKind {
		w.JSON = append(append(append(w.JSON, `","missed":"`...), KindNames[JettonsKind]...), `","account":`...)
		return append(api.AppendAddress(w.JSON, e.Wallet.Account), '}')
	}
	w.JSON = append(w.JSON, `","finality":"`...)
	w.JSON = append(append(w.JSON, render.Finality(e.Of != nil && e.Of.foreseen(e.Kind))...), '"')
	if e.Of != nil {
		e.Of.prepare()
		w.JSON = append(w.JSON, `,"trace_external_hash_norm":"`...)
		w.JSON = append(base64.StdEncoding.AppendEncode(w.JSON, e.Of.Hash[:]), '"')
	}
	switch e.Kind {
	case TransactionsKind:
		writeFragments(w, "transactions", e.Of.transactions, c)
	case ActionsKind:
		writeFragments(w, "actions", e.Of.actions, c)
	case TraceKind:
		e.Of.writeTrace(w, c)
	case StateKind:
		w.JSON = api.AppendAddress(append(w.JSON, `,"account":`...), e.Tx.Account)
		w.JSON = append(w.JSON, `,"state":`...)
		render.WriteStateAfter(w, e.Tx)
	case JettonsKind:
		w.JSON = append(w.JSON, `,"jetton":`...)
		render.JettonWallet.Write(w, render.JettonWalletRow{Contract: e.Wallet}) // what can be claimed does not follow from the chain
	}
	if e.Kind != StateKind {
		b.write(ctx, w, s)
	}
	w.JSON = append(w.JSON, '}')
	return w.JSON
}

func writeFragments(w *api.Writer, name string, all []fragment, c Choice) {
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

func (t *Trace) writeTrace(w *api.Writer, c Choice) {
	w.JSON = append(append(w.JSON, `,"trace":`...), t.tree...)
	w.JSON = append(w.JSON, `,"transactions":{`...)
	for i, f := range t.transactions {
		if i > 0 {
			w.JSON = append(w.JSON, ',')
		}
		w.JSON = base64.StdEncoding.AppendEncode(append(w.JSON, '"'), t.All[i].Hash)
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
func (b Books) write(ctx context.Context, w *api.Writer, s *Subscription) {
	for _, member := range []struct {
		wanted bool
		empty  string
		write  func(context.Context, []byte, api.Book) ([]byte, error)
	}{
		{s.style.addressBook, `,"address_book":{}`, b.Index.AppendAddressBook},
		{s.style.metadata, `,"metadata":{}`, b.Index.AppendMetadata},
	} {
		if !member.wanted {
			continue
		}
		before := len(w.JSON)
		written, err := member.write(ctx, w.JSON, w.Book)
		if err != nil {
			if !errors.Is(ctx.Err(), context.Canceled) {
				b.Fail(err)
			}
			written = append(w.JSON[:before], member.empty...)
		}
		w.JSON = written
	}
}

// Root is the first transaction.
func (t *Trace) Root() *record.Transaction {
	if t.Row.Tree == nil || t.Row.Tree.Root == nil {
		return nil
	}
	return t.Row.Tree.Root.Tx
}

// Subject is what an event tells something of that the next one of the kind replaces.
type Subject struct {
	kind Kind
	id   address.Address // or a hash
}

// Subject is that of the event.
func (e *Event) Subject() Subject {
	switch {
	case e.Of != nil:
		return Subject{e.Kind, TraceKey(e.Of.Hash).ID}
	case e.Tx != nil:
		return Subject{e.Kind, address.Address(e.Tx.Account)}
	}
	return Subject{e.Kind, address.Address(e.Wallet.Account)}
}

// OfForeseen is how many events tell what is foreseen of a trace.
const OfForeseen = 3

// Foreseen are the events of what no block has: of transactions only such.
func Foreseen(row render.TraceRow, at Position) [OfForeseen]*Event {
	whole := NewTrace(row, nil)
	rest := NewTrace(row, nil)
	rest.All = slices.DeleteFunc(rest.All, func(tx *record.Transaction) bool { return !row.Foreseen[tx] })
	for _, t := range []*Trace{whole, rest} {
		for tx := range t.Fresh {
			t.Fresh[tx] = true
		}
	}
	return [OfForeseen]*Event{{Kind: TransactionsKind, Position: at, Of: rest}, {Kind: ActionsKind, Position: at, Of: whole}, {Kind: TraceKind, Position: at, Of: whole}}
}

package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Store keeps what is open between bundles. Keys are a byte that says what they are
// and parts of which all but the last are of fixed length; that of a stage
// (internal/stage) is one. Reads see what was set before.
type Store interface {
	// Get returns nil where there is nothing.
	Get(kind byte, parts ...[]byte) ([]byte, error)
	Set(value []byte, kind byte, parts ...[]byte) error
	Delete(kind byte, parts ...[]byte) error
	// Each visits the keys that begin with a prefix, without the prefix, after the one
	// given, in their order, until visit returns false.
	Each(prefix, after []byte, visit func(rest, value []byte) bool) error
}

// Keys of the store. All values but transactions are small: what a million open
// messages need is the first of these a million times.
const (
	keyEdge        = 'e' // hash of an internal message that was not received yet → id of the trace
	keyOrphan      = 'o' // hash of a message whose sender was never seen → id of the trace that it began
	keyTrace       = 't' // id → Trace, of those that are not complete
	keyTransaction = 'x' // id, lt, account → Transaction of those
	keyAccount     = 'a' // id, account → nothing: it has a transaction in one of more than MaxNodes
)

// Few are kinds of keys of which there are few: nearly all that the Assembler asks for are
// not there.
var Few = []byte{keyOrphan}

// Assembler puts the transactions of a chain together to traces, bundle by bundle.
// What it does depends on the store and the bundle alone, so that a bundle that is
// worked out again gives the same. It is for one goroutine.
type Assembler struct {
	store Store

	// Of the bundle.
	open   map[[32]byte]*openTrace // by the hashes of messages that were sent in it and not received yet
	traces map[[32]byte]*openTrace
	order  []*openTrace
	sent   [][]byte // hashes of all messages that were sent in it
	seqno  uint32

	lately      map[[32]byte]*recent // by the ids of traces
	latelyBytes int
}

// recent are all transactions that the store has of a trace. Those of traces that began
// lately are in memory too: most end soon.
type recent struct {
	transactions []*record.Transaction
	bytes        int
}

// maxLately is how many bytes of transactions are in memory when a bundle begins.
const maxLately = 8 << 20

// NewAssembler returns an Assembler that goes on from what is in the store.
func NewAssembler(store Store) *Assembler {
	return &Assembler{store: store, lately: make(map[[32]byte]*recent)}
}

// Assembled is a trace that got transactions with a bundle.
type Assembled struct {
	*record.Trace
	// New are those of the bundle, by (lt, account), whose trace_id is that of the
	// trace from now on, and Moved those of traces that it replaces.
	New, Moved []*record.Transaction
	// All are all of them by the same order, once the trace has no open message. It is
	// nil while there are any, and of traces of more than MaxNodes, or of more than MaxBytes
	// before the bundle.
	All []*record.Transaction
	// Earlier are the accounts of those of earlier bundles, where the trace has no open message
	// and All is nil; those of bundles that brought it beyond maxListed are not among them.
	Earlier [][]byte
}

// openTrace is a trace in work.
type openTrace struct {
	trace *record.Trace
	id    [32]byte
	added []*record.Transaction
	moved []*record.Transaction // of traces that are parts of it now, of earlier bundles
	kept  bool                  // there is something of it in the store
}

// ErrHash is the error of a transaction or message whose hash has not 32 bytes.
var ErrHash = errors.New("a hash of another size than 32 bytes")

// Bundle adds the transactions of the next bundle, in whatever order. It returns the
// traces that they belong to, by their first transactions in the bundle.
func (a *Assembler) Bundle(mcSeqno uint32, transactions []*record.Transaction) ([]Assembled, error) {
	a.seqno, a.sent = mcSeqno, a.sent[:0]
	a.open, a.traces, a.order = make(map[[32]byte]*openTrace), make(map[[32]byte]*openTrace, len(transactions)), nil
	if a.latelyBytes > maxLately {
		clear(a.lately)
		a.latelyBytes = 0
	}
	if !slices.IsSortedFunc(transactions, Order) {
		transactions = slices.Clone(transactions)
		slices.SortStableFunc(transactions, Order)
	}
	for _, tx := range transactions {
		if err := a.add(tx); err != nil {
			return nil, fmt.Errorf("transaction %x: %w", tx.Hash, err)
		}
	}
	if err := a.keepOpen(); err != nil {
		return nil, err
	}
	list := make([]Assembled, 0, len(a.order))
	for _, g := range a.order {
		if g.trace == nil || len(g.added) == 0 { // a part of another one now, or too large to be
			continue
		}
		done, err := a.finish(g)
		if err != nil {
			return nil, fmt.Errorf("trace %x: %w", g.id, err)
		}
		list = append(list, done)
	}
	return list, nil
}

// add puts a transaction into its trace.
func (a *Assembler) add(tx *record.Transaction) error {
	if len(tx.Hash) != 32 {
		return ErrHash
	}
	g, err := a.caused(tx)
	if err != nil {
		return err
	}
	if g == nil {
		if g, err = a.begin(tx); err != nil {
			return err
		}
	}
	t := g.trace
	t.Nodes++
	t.EndLt, t.EndUtime, t.McSeqnoEnd = max(t.EndLt, tx.Lt), max(t.EndUtime, tx.Now), max(t.McSeqnoEnd, a.seqno)
	g.added = append(g.added, tx)
	for _, m := range tx.OutMsgs {
		switch {
		case m.Kind != record.Message_INTERNAL:
			t.Edges++
		case len(m.Hash) != 32:
			return ErrHash
		default:
			a.open[[32]byte(m.Hash)] = g
			a.sent = append(a.sent, m.Hash)
			t.PendingEdges++
		}
	}
	return nil
}

// caused finds the trace whose message a transaction received, nil for none, and
// closes the message.
func (a *Assembler) caused(tx *record.Transaction) (*openTrace, error) {
	in := tx.InMsg
	if in == nil || in.Kind != record.Message_INTERNAL {
		return nil, nil
	}
	if len(in.Hash) != 32 {
		return nil, ErrHash
	}
	hash := [32]byte(in.Hash)
	g := a.open[hash]
	if g != nil {
		delete(a.open, hash)
	} else {
		id, err := a.store.Get(keyEdge, in.Hash)
		if err != nil || id == nil {
			return nil, err
		}
		if err := a.store.Delete(keyEdge, in.Hash); err != nil {
			return nil, err
		}
		if g, err = a.known(id); err != nil {
			return nil, err
		}
	}
	g.trace.PendingEdges--
	g.trace.Edges++
	return g, nil
}

// known takes a trace out of the store.
func (a *Assembler) known(id []byte) (*openTrace, error) {
	if len(id) != 32 {
		return nil, ErrHash
	}
	if g := a.traces[[32]byte(id)]; g != nil {
		return g, nil
	}
	raw, err := a.store.Get(keyTrace, id)
	if err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("trace %x has open messages and is not in the store", id)
	}
	g := &openTrace{trace: new(record.Trace), id: [32]byte(id), kept: true}
	if err := g.trace.UnmarshalVT(raw); err != nil {
		return nil, fmt.Errorf("trace %x in the store: %w", id, err)
	}
	g.trace.Replaces = nil
	a.traces[g.id] = g
	a.order = append(a.order, g)
	return g, nil
}

// nobody is the source of messages that the chain itself makes: fees, and calls of
// its special contracts. A chain may have a contract at that address, which sends others.
var nobody = address.MustParse("-1:0000000000000000000000000000000000000000000000000000000000000000")

// Begun returns the trace that a transaction is the first of, as it alone tells it: one
// that received its message from outside, or none. It returns nil where another
// transaction sent the message, or may have.
func Begun(tx *record.Transaction) *record.Trace {
	t := &record.Trace{Id: tx.Hash, StartLt: tx.Lt, EndLt: tx.Lt, StartUtime: tx.Now, EndUtime: tx.Now}
	switch in := tx.InMsg; {
	case in == nil:
		return t
	case in.Kind != record.Message_EXTERNAL_IN:
		return nil
	default:
		t.ExternalHash, t.ExternalHashNorm, t.Edges = in.Hash, in.HashNorm, 1
		return t
	}
}

// begin makes a trace whose root is the transaction.
func (a *Assembler) begin(tx *record.Transaction) (*openTrace, error) {
	g := &openTrace{id: [32]byte(tx.Hash), trace: Begun(tx)}
	if g.trace == nil {
		g.trace = Begun(&record.Transaction{Hash: tx.Hash, Lt: tx.Lt, Now: tx.Now})
		g.trace.ExternalHash, g.trace.Edges = tx.InMsg.Hash, 1
		// What is sent to the address of the chain itself, and comes back from there, is no
		// message of the chain.
		if !bytes.Equal(tx.InMsg.Source, nobody[:]) || tx.InMsg.Bounced { // nobody knows who sent its message
			g.trace.State = record.TraceState_TRACE_BROKEN
			if err := a.store.Set(tx.Hash, keyOrphan, tx.InMsg.Hash); err != nil {
				return nil, err
			}
		}
	}
	g.trace.McSeqnoStart, g.trace.McSeqnoEnd = a.seqno, a.seqno
	a.traces[g.id] = g
	a.order = append(a.order, g)
	return g, nil
}

// keepOpen puts the messages that nobody received into the store. One whose receiver
// came before its sender, because the index began between them, brings the
// receiver's trace home.
func (a *Assembler) keepOpen() error {
	for _, hash := range a.sent {
		g := a.open[[32]byte(hash)]
		if g == nil {
			continue
		}
		orphan, err := a.store.Get(keyOrphan, hash)
		if err != nil {
			return err
		}
		if orphan != nil {
			if err := a.link(g, hash, orphan); err != nil {
				return err
			}
		}
	}
	for _, hash := range a.sent {
		if g := a.open[[32]byte(hash)]; g != nil {
			if err := a.store.Set(g.id[:], keyEdge, hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// link makes the trace that an orphan began a part of the one whose message it
// received, unless together they pass MaxNodes, or it has more than MaxBytes.
func (a *Assembler) link(g *openTrace, message, orphan []byte) error {
	o, err := a.known(orphan)
	if err != nil {
		return err
	}
	if o == g || g.trace.Nodes+o.trace.Nodes > MaxNodes {
		return nil
	}
	stored, keys, err := a.stored(o)
	if err != nil || len(stored) < len(keys) {
		return err
	}
	for _, tx := range stored {
		if err := a.move(tx, o, g); err != nil {
			return err
		}
	}
	for hash, owner := range a.open {
		if owner == o {
			a.open[hash] = g
		}
	}
	delete(a.open, [32]byte(message))
	t, u := g.trace, o.trace
	t.Nodes, t.Edges, t.PendingEdges = t.Nodes+u.Nodes, t.Edges+u.Edges, t.PendingEdges+u.PendingEdges-1
	t.McSeqnoEnd = max(t.McSeqnoEnd, u.McSeqnoEnd)
	t.EndLt, t.EndUtime = max(t.EndLt, u.EndLt), max(t.EndUtime, u.EndUtime)
	t.Replaces = append(append(t.Replaces, u.Id), u.Replaces...)
	g.added = append(g.added, o.added...)
	g.moved = append(append(g.moved, o.moved...), stored...)
	g.kept = g.kept || o.kept
	if o.kept {
		if err := a.store.Delete(keyTrace, o.id[:]); err != nil {
			return err
		}
	}
	a.forget(o)
	o.trace, o.added, o.moved = nil, nil, nil
	return a.store.Delete(keyOrphan, message)
}

// move gives a transaction of the store, and its open messages, to another trace.
func (a *Assembler) move(tx *record.Transaction, from, to *openTrace) error {
	if err := a.store.Delete(keyTransaction, from.id[:], transactionKey(tx)); err != nil {
		return err
	}
	for _, m := range tx.OutMsgs {
		if m.Kind != record.Message_INTERNAL {
			continue
		}
		owner, err := a.store.Get(keyEdge, m.Hash)
		if err != nil {
			return err
		}
		if bytes.Equal(owner, from.id[:]) { // an open one
			if err := a.store.Set(to.id[:], keyEdge, m.Hash); err != nil {
				return err
			}
		}
	}
	return a.keep(to, tx)
}

// finish says how far a trace is, and keeps what is not complete.
func (a *Assembler) finish(g *openTrace) (Assembled, error) {
	t := g.trace
	slices.SortStableFunc(g.added, Order)
	slices.SortStableFunc(g.moved, Order)
	done := Assembled{Trace: t, New: g.added, Moved: g.moved}
	if t.State != record.TraceState_TRACE_BROKEN {
		t.State = record.TraceState_TRACE_COMPLETE
		if t.PendingEdges > 0 {
			t.State = record.TraceState_TRACE_PENDING
		}
	}
	var stored []*record.Transaction
	var keys [][]byte
	var err error
	if g.kept && (t.PendingEdges == 0 || t.Nodes > MaxNodes) {
		if stored, keys, err = a.stored(g); err != nil {
			return done, err
		}
	}
	switch {
	case t.Nodes > MaxNodes:
		if done.Earlier, err = a.keepAccounts(g, keys); err != nil {
			return done, err
		}
	case t.PendingEdges > 0:
	case len(stored) < len(keys):
		t.Unclassified = true
		for _, key := range keys {
			done.Earlier = append(done.Earlier, key[ltSize:])
		}
	default:
		done.All = g.added
		if len(stored) > 0 {
			done.All = slices.Concat(stored, g.added)
			slices.SortStableFunc(done.All, Order)
		}
	}
	// Of what is too large no transactions are kept, but their accounts: nobody makes a tree of
	// them.
	if t.State == record.TraceState_TRACE_COMPLETE || t.Nodes > MaxNodes {
		a.forget(g)
		for _, key := range keys {
			if err := a.store.Delete(keyTransaction, g.id[:], key); err != nil {
				return done, err
			}
		}
	}
	if t.State == record.TraceState_TRACE_COMPLETE {
		if g.kept {
			err = a.store.Delete(keyTrace, g.id[:])
		}
		return done, err
	}
	if t.Nodes <= MaxNodes {
		for _, tx := range g.added {
			if err := a.keep(g, tx); err != nil {
				return done, err
			}
		}
	}
	raw, err := t.MarshalVT()
	if err != nil {
		return done, err
	}
	return done, a.store.Set(raw, keyTrace, g.id[:])
}

// maxListed is how many transactions a trace may have for their accounts to be kept: all of
// them are in memory at its end.
const maxListed = 1 << 18

// keepAccounts keeps the accounts of a trace that is too large, those that the keys of
// transactions in the store end with among them, up to maxListed. Once it has no open
// message, it returns those that were kept, and keeps them no longer.
func (a *Assembler) keepAccounts(g *openTrace, keys [][]byte) (earlier [][]byte, err error) {
	for _, key := range keys {
		earlier = append(earlier, key[ltSize:])
	}
	if g.trace.PendingEdges > 0 {
		if g.trace.Nodes <= maxListed {
			for _, tx := range g.added {
				earlier = append(earlier, tx.Account)
			}
		}
		for _, account := range earlier {
			if err := a.store.Set(nil, keyAccount, g.id[:], account); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	var kept [][]byte
	err = a.store.Each(append([]byte{keyAccount}, g.id[:]...), nil, func(rest, _ []byte) bool {
		kept = append(kept, slices.Clone(rest))
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, account := range kept {
		if err := a.store.Delete(keyAccount, g.id[:], account); err != nil {
			return nil, err
		}
	}
	return append(earlier, kept...), nil
}

func (a *Assembler) keep(g *openTrace, tx *record.Transaction) error {
	raw, err := tx.MarshalVT()
	if err != nil {
		return err
	}
	known := a.lately[g.id]
	if known == nil && !g.kept { // there is nothing of it in the store
		known = new(recent)
		a.lately[g.id] = known
	}
	if known != nil {
		known.transactions = append(known.transactions, tx)
		known.bytes += len(raw)
		a.latelyBytes += len(raw)
	}
	return a.store.Set(raw, keyTransaction, g.id[:], transactionKey(tx))
}

// forget drops what is in memory of a trace.
func (a *Assembler) forget(g *openTrace) {
	if known := a.lately[g.id]; known != nil {
		a.latelyBytes -= known.bytes
		delete(a.lately, g.id)
	}
}

// ltSize is how many bytes of a transaction's key are its lt.
const ltSize = 8

// transactionKey sorts as Order does.
func transactionKey(tx *record.Transaction) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, ltSize+address.Size), tx.Lt), tx.Account...)
}

// stored are the transactions of a trace that came with earlier bundles, none where they
// have more than MaxBytes, and the ends of their keys.
func (a *Assembler) stored(g *openTrace) (list []*record.Transaction, keys [][]byte, err error) {
	if !g.kept {
		return nil, nil, nil
	}
	if known := a.lately[g.id]; known != nil && known.bytes <= MaxBytes {
		for _, tx := range known.transactions {
			keys = append(keys, transactionKey(tx))
		}
		return known.transactions, keys, nil
	}
	var damage error
	size := 0
	err = a.store.Each(append([]byte{keyTransaction}, g.id[:]...), nil, func(rest, value []byte) bool {
		keys = append(keys, slices.Clone(rest))
		if size += len(value); size > MaxBytes {
			list = nil
			return true
		}
		tx := new(record.Transaction)
		if damage = tx.UnmarshalVT(value); damage != nil {
			return false
		}
		list = append(list, tx)
		return true
	})
	return list, keys, errors.Join(err, damage)
}

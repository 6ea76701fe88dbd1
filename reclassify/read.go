package reclassify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/schema/table"
)

// Reader reads closed traces with their transactions, and recognises what they were.
// It is for one goroutine.
type Reader struct {
	client *clickhouse.Client
	facts  *facts
}

// NewReader returns a reader of the tables. Facts of contracts that it has read stay in
// memory: the range that is read must lie at or below the watermark of when it begins.
func NewReader(client *clickhouse.Client) *Reader {
	return &Reader{client, &facts{client: client, known: map[account]*contract{}}}
}

// Trace is a closed trace with its actions.
type Trace struct {
	*record.Trace
	// Transactions are all of it, where none is missing.
	Transactions []*record.Transaction
	// Actions are the rows that the recognisers make, by their numbers: those of the stored
	// ones.
	Actions []*table.ActionRow
	// Stored are the newest rows of the table by their numbers, also of actions that are
	// gone.
	Stored []*StoredAction
	// Failed names the recognisers that failed; nil for none. The actions are those of
	// the others.
	Failed error
	// Missing is how many of its transactions the tables do not have: nothing is
	// recognised then.
	Missing int

	step *table.TraceStep
}

// StoredAction is a row of the table actions.
type StoredAction struct {
	Number   uint32
	Columns  uint64 // hash of all but the record
	Revision uint32
	Gone     bool
	Record   string
	// Action is what the record says, with an id and nothing else where it is no action.
	Action *record.Action
}

// Is reports whether the row is what the recognisers make.
func (s *StoredAction) Is(a *table.ActionRow) bool {
	return s != nil && a != nil && !s.Gone && s.Columns == table.Actions.Hash(a) && s.Record == a.Stored()
}

// Standing are the stored actions that are not gone.
func (t *Trace) Standing() []*StoredAction {
	return slices.DeleteFunc(slices.Clone(t.Stored), func(s *StoredAction) bool { return s.Gone })
}

// ErrRecord says that the record of a row is none: what needs it cannot be recognised.
var ErrRecord = errors.New("record cannot be read")

// Bounds of what is held at a time.
const (
	maxTraces       = 2000
	maxTransactions = 20_000
	maxNamed        = 2000 // keys of a statement
)

// Each hands out the closed traces that ended with a range of bundles and have actions:
// those that no other one replaces, of MaxNodes at most.
func (r *Reader) Each(ctx context.Context, low, high uint32, take func(*Trace) error) error {
	prefixes, err := r.ended(ctx, low, high)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(prefixes, maxTraces) {
		traces, err := r.traces(ctx, some, low, high)
		if err != nil {
			return err
		}
		for len(traces) > 0 {
			n, nodes := 0, 0
			for n < len(traces) && (n == 0 || nodes+int(traces[n].Nodes) <= maxTransactions) {
				nodes += int(traces[n].Nodes)
				n++
			}
			if err := r.recognise(ctx, traces[:n]); err != nil {
				return err
			}
			for _, t := range traces[:n] {
				if err := take(t); err != nil {
					return err
				}
			}
			traces = traces[n:]
		}
	}
	return nil
}

// ended are the prefixes of the ids of traces that ended with a range of bundles.
func (r *Reader) ended(ctx context.Context, low, high uint32) (prefixes []uint64, err error) {
	var first, last, prefix uint64
	if err := r.each(ctx, "SELECT min(start_lt), max(end_lt) FROM blocks WHERE mc_seqno BETWEEN ? AND ?", []any{low, high}, func() error { return nil }, &first, &last); err != nil {
		return nil, err
	}
	err = r.each(ctx, "SELECT DISTINCT trace_prefix FROM traces_by_list WHERE list = ? AND end_lt BETWEEN ? AND ? AND mc_seqno BETWEEN ? AND ? ORDER BY trace_prefix SETTINGS optimize_use_projections = 0",
		[]any{schema.AllTraces.Number(nil), first, last, low, high}, func() error {
			prefixes = append(prefixes, prefix)
			return nil
		}, &prefix)
	return prefixes, err
}

// traces reads the newest rows of traces.
func (r *Reader) traces(ctx context.Context, prefixes []uint64, low, high uint32) (traces []*Trace, err error) {
	type row struct {
		mcSeqno  uint32
		replaced bool
		raw      []byte
	}
	newest := map[[32]byte]row{}
	var id []byte
	var have row
	err = r.each(ctx, "SELECT id, mc_seqno, replaced, "+stored.TraceSQL+" FROM traces WHERE trace_prefix IN "+list(prefixes), nil, func() error {
		if was, has := newest[[32]byte(id)]; !has || have.mcSeqno > was.mcSeqno {
			newest[[32]byte(id)] = row{have.mcSeqno, have.replaced, bytes.Clone(have.raw)}
		}
		return nil
	}, &id, &have.mcSeqno, &have.replaced, &have.raw)
	if err != nil {
		return nil, err
	}
	for id, row := range newest {
		t := new(record.Trace)
		if _, err := stored.UnpackTrace(t, row.raw); err != nil {
			return nil, fmt.Errorf("table traces, trace %x: %w: %w", id, ErrRecord, err)
		}
		if row.replaced || t.McSeqnoEnd < low || t.McSeqnoEnd > high || t.PendingEdges > 0 || t.Nodes > trace.MaxNodes || t.Unclassified {
			continue
		}
		traces = append(traces, &Trace{Trace: t, step: &table.TraceStep{TraceStep: &record.TraceStep{Trace: t}}})
	}
	slices.SortFunc(traces, func(a, b *Trace) int { return bytes.Compare(a.Id, b.Id) })
	return traces, nil
}

// recognise fills in the actions of traces.
func (r *Reader) recognise(ctx context.Context, traces []*Trace) error {
	byPrefix, prefixes := map[uint64][]*Trace{}, make([]uint64, len(traces))
	for i, t := range traces {
		prefixes[i] = schema.Prefix(t.Id)
		byPrefix[prefixes[i]] = append(byPrefix[prefixes[i]], t)
	}
	transactions, err := r.transactions(ctx, prefixes)
	if err != nil {
		return err
	}
	if err := r.stored(ctx, prefixes, byPrefix); err != nil {
		return err
	}
	if len(r.facts.known) > maxKnown {
		clear(r.facts.known)
	}
	trees := make([]*trace.Tree, len(traces))
	for i, t := range traces {
		of := transactions[prefixes[i]]
		if len(of) != int(t.Nodes) {
			of = trace.LedTo([32]byte(t.Id), of)
		}
		if t.Missing = int(t.Nodes) - len(of); t.Missing != 0 {
			continue
		}
		t.Transactions = of
		if trees[i], err = trace.NewTree(of); err != nil {
			return fmt.Errorf("trace %x: %w", t.Id, err)
		}
		r.facts.wantParties(of)
	}
	// What recognisers ask for and is not known yet is read for all traces at once,
	// until nobody asks for more.
	for left := true; left; {
		if err := r.facts.read(ctx); err != nil {
			clear(r.facts.known) // some of them were not read
			return err
		}
		left = false
		for i, t := range traces {
			if trees[i] == nil {
				continue
			}
			of := &factsOf{facts: r.facts, trace: t.Trace}
			actions, failed := action.Classify(trees[i], of)
			if of.missed {
				left = true
				continue
			}
			trees[i] = nil
			t.fill(actions, failed)
		}
	}
	return nil
}

// fill takes what was recognised, and numbers it as the stored actions are.
func (t *Trace) fill(actions []*action.Action, failed error) {
	t.Actions, t.Failed = nil, failed
	for _, found := range action.Records(actions) {
		t.Actions = append(t.Actions, &table.ActionRow{Action: found, Step: t.step})
	}
	table.NumberActions(t.Actions, 0)
	numbers := make(map[[32]byte]uint32, len(t.Actions))
	for _, a := range t.Actions {
		numbers[[32]byte(a.Id)] = a.Number
	}
	first := uint32(math.MaxUint32)
	for _, s := range t.Standing() {
		if n, has := numbers[[32]byte(s.Action.Id)]; has && n <= s.Number {
			first = min(first, s.Number-n)
		}
	}
	if first != math.MaxUint32 {
		table.NumberActions(t.Actions, first)
	}
}

// transactionKey is the key of the table transactions, and the bundle.
type transactionKey struct {
	workchain  int32
	prefix, lt uint64
	mcSeqno    uint32
}

// transactions reads those of traces, by the prefixes of the traces' ids.
func (r *Reader) transactions(ctx context.Context, prefixes []uint64) (map[uint64][]*record.Transaction, error) {
	of := map[transactionKey][]uint64{} // those of accounts that begin alike share a key
	var keys []transactionKey
	for some := range slices.Chunk(prefixes, maxNamed) {
		var k transactionKey
		var prefix uint64
		err := r.each(ctx, "SELECT workchain, account_prefix, lt, transaction_mc_seqno, trace_prefix FROM transaction_traces WHERE trace_prefix IN "+list(some)+
			" SETTINGS preferred_optimize_projection_name = 'by_trace'", nil, func() error {
			if of[k] == nil {
				keys = append(keys, k)
			}
			if !slices.Contains(of[k], prefix) {
				of[k] = append(of[k], prefix)
			}
			return nil
		}, &k.workchain, &k.prefix, &k.lt, &k.mcSeqno, &prefix)
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(keys, func(a, b transactionKey) int {
		return cmp.Or(cmp.Compare(a.workchain, b.workchain), cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.lt, b.lt))
	})
	all, seen := map[uint64][]*record.Transaction{}, map[[32]byte]bool{}
	for some := range slices.Chunk(keys, maxNamed) {
		var tuples []string
		for _, k := range some {
			tuples = append(tuples, fmt.Sprintf("(%d,%d,%d)", k.workchain, k.prefix, k.lt))
		}
		var k transactionKey
		var raw []byte
		err := r.each(ctx, "SELECT workchain, account_prefix, lt, record FROM transactions WHERE (workchain, account_prefix, lt) IN ("+strings.Join(tuples, ",")+")", nil, func() error {
			tx := new(record.Transaction)
			err := stored.Unpack(tx, raw)
			if err == nil && (len(tx.Hash) != 32 || len(tx.Account) != schema.AddressSize) {
				err = errors.New("no complete transaction")
			}
			if err != nil {
				return fmt.Errorf("table transactions, workchain %d, account_prefix 0x%016x, lt %d: %w: %w", k.workchain, k.prefix, k.lt, ErrRecord, err)
			}
			if seen[[32]byte(tx.Hash)] {
				return nil
			}
			seen[[32]byte(tx.Hash)] = true
			for _, prefix := range of[transactionKey{schema.Workchain(tx.Account), schema.Prefix(schema.AccountID(tx.Account)), tx.Lt, tx.McSeqno}] {
				all[prefix] = append(all[prefix], tx)
			}
			return nil
		}, &k.workchain, &k.prefix, &k.lt, &raw)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// stored reads the actions that the table has: what stands is what FINAL leaves, since of
// rows of one revision the one that was inserted last counts. Actions that are gone come
// before, so that one that stands takes their place.
func (r *Reader) stored(ctx context.Context, prefixes []uint64, traces map[uint64][]*Trace) error {
	var prefix, endLt, columns uint64
	var number, revision uint32
	var gone uint8
	var raw []byte
	columnsSQL := fmt.Sprintf("trace_prefix, trace_end_lt, number, %s AS columns, revision, gone, %s AS raw", table.Actions.HashSQL(), stored.ActionSQL)
	err := r.each(ctx, fmt.Sprintf(`SELECT * FROM (SELECT %[1]s FROM actions WHERE gone AND trace_prefix IN %[2]s UNION ALL SELECT %[1]s FROM actions FINAL WHERE trace_prefix IN %[2]s)
		ORDER BY trace_prefix, trace_end_lt, number, gone DESC, revision SETTINGS optimize_use_projections = 0`,
		columnsSQL, list(prefixes)), nil, func() error {
		i := slices.IndexFunc(traces[prefix], func(t *Trace) bool { return t.EndLt == endLt })
		if i < 0 {
			return nil // of a trace whose id begins alike
		}
		t, s := traces[prefix][i], &StoredAction{Number: number, Columns: columns, Revision: revision, Gone: gone == 1, Record: string(raw[stored.ActionColumns:]), Action: new(record.Action)}
		if err := stored.UnpackAction(s.Action, raw); err != nil {
			s.Action = &record.Action{Id: append(binary.BigEndian.AppendUint32(nil, binary.LittleEndian.Uint32(raw)), make([]byte, 28)...), StartLt: t.EndLt, EndLt: t.EndLt, Type: "unknown"}
		}
		if n := len(t.Stored); n > 0 && t.Stored[n-1].Number == number {
			t.Stored[n-1] = s
			return nil
		}
		t.Stored = append(t.Stored, s)
		return nil
	}, &prefix, &endLt, &number, &columns, &revision, &gone, &raw)
	return err
}

// each runs a statement and calls take for every row.
func (r *Reader) each(ctx context.Context, query string, args []any, take func() error, columns ...any) error {
	var failed error
	err := clickhouse.Each(ctx, r.client.Conn(), query, args, func() {
		if failed == nil {
			failed = take()
		}
	}, columns...)
	if err != nil {
		return fmt.Errorf("%w (query %.120s)", err, query)
	}
	return failed
}

// list writes numbers as a set.
func list(numbers []uint64) string {
	text := []byte{'('}
	for i, n := range numbers {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Append(text, n)
	}
	return string(append(text, ')'))
}

// account is an address.
type account = [schema.AddressSize]byte

// contract is what is known of an account.
type contract struct {
	now  *record.Contract
	past []*record.Contract // by mc_seqno
}

// facts are what contracts were as of any bundle, as far as they were read.
type facts struct {
	client *clickhouse.Client
	known  map[account]*contract
	wanted map[account]bool
}

// maxKnown is how many accounts are held when others are read.
const maxKnown = 200_000

func (f *facts) want(a []byte) {
	if len(a) != len(account{}) || f.known[account(a)] != nil {
		return
	}
	if f.wanted == nil {
		f.wanted = map[account]bool{}
	}
	f.wanted[account(a)] = true
}

// wantParties wants the accounts of transactions and of their messages.
func (f *facts) wantParties(list []*record.Transaction) {
	for _, tx := range list {
		f.want(tx.Account)
		f.want(tx.InMsg.GetSource())
		for _, m := range tx.OutMsgs {
			f.want(m.Destination)
		}
	}
}

// read reads what is wanted. A row of what a contract is comes in behind what it was
// before, so that one that changes in between is seen as it was.
func (f *facts) read(ctx context.Context) error {
	wanted := make([]account, 0, len(f.wanted))
	for a := range f.wanted {
		wanted = append(wanted, a)
	}
	f.wanted = nil
	slices.SortFunc(wanted, func(a, b account) int { return bytes.Compare(a[:], b[:]) })
	r := Reader{client: f.client}
	for some := range slices.Chunk(wanted, maxNamed) {
		var tuples []string
		for _, a := range some {
			f.known[a] = &contract{}
			tuples = append(tuples, fmt.Sprintf("(%d,%d)", schema.Workchain(a[:]), schema.Prefix(schema.AccountID(a[:]))))
		}
		keys := strings.Join(tuples, ",")
		for _, name := range []string{table.Contracts.Name, table.PastContracts.Name} {
			var raw, id []byte
			var workchain int32
			var mcSeqno uint32
			err := r.each(ctx, "SELECT workchain, account, mc_seqno, record FROM "+name+" WHERE (workchain, account_prefix) IN ("+keys+")", nil, func() error {
				a := account(append(binary.BigEndian.AppendUint32(nil, uint32(workchain)), id...))
				known := f.known[a]
				if known == nil {
					return nil // begins like a wanted one
				}
				c := new(record.Contract)
				if err := c.UnmarshalVT(raw); err != nil {
					return fmt.Errorf("table %s, account %x: %w: %w", name, a, ErrRecord, err)
				}
				switch {
				case name == table.PastContracts.Name:
					known.past = append(known.past, c)
				case known.now == nil || known.now.McSeqno < mcSeqno:
					known.now = c
				}
				return nil
			}, &workchain, &id, &mcSeqno, &raw)
			if err != nil {
				return err
			}
		}
		for _, a := range some {
			slices.SortFunc(f.known[a].past, func(a, b *record.Contract) int { return cmp.Compare(a.McSeqno, b.McSeqno) })
		}
	}
	return nil
}

// factsOf are what contracts were in a trace: they implement action.Facts.
type factsOf struct {
	*facts
	trace  *record.Trace
	missed bool // something was asked for that is not known
}

func (f *factsOf) Contract(a []byte) *record.Contract {
	if len(a) != len(account{}) {
		return nil
	}
	c := f.known[account(a)]
	if c == nil {
		f.want(a)
		f.missed = true
		return nil
	}
	return schema.ContractIn(f.trace.McSeqnoStart, f.trace.McSeqnoEnd, c.past, c.now)
}

// AccountData is that of the stage, which keeps none.
func (f *factsOf) AccountData([]byte) []byte { return nil }

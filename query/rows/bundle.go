package rows

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"tonscribe/decode/trace"
	"tonscribe/query/api"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/traced"
	"tonscribe/query/render"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/schema/table"
	"tonscribe/ton/address"
)

// Bundle is what the bundle of a masterchain block brought, in rows of answers. It is
// made of the chain alone: it is the same whenever and wherever it is made, but for
// Wallets, of which those that changed again are in Overwritten once the bundle is not
// in memory any more.
type Bundle struct {
	MCSeqno  uint32
	GenUtime uint32
	// Transactions are those of all blocks, by lt and account.
	Transactions []*record.Transaction
	// Traces are those that these are of as the bundle leaves them, in the order of the
	// first of them; TraceOf has the index of each transaction's, -1 where none is known.
	Traces  []render.TraceRow
	TraceOf []int
	// Wallets are the jetton wallets that changed, by account.
	Wallets map[address.Address]*record.Contract
	// Overwritten are the jetton wallets that had transactions, and of which the tables
	// only know what a later bundle left, by account.
	Overwritten map[address.Address]*record.Contract
}

// Bundle reads what a bundle brought that the view shows.
func (r *Reader) Bundle(ctx context.Context, v *head.View, mcSeqno uint32) (*Bundle, error) {
	past := v.AsOf(mcSeqno)
	in := *r
	in.View = past
	b := &Bundle{MCSeqno: mcSeqno, GenUtime: past.GenUtime}
	var err error
	if b.Transactions, err = in.transactionsOf(ctx, mcSeqno); err != nil || len(b.Transactions) == 0 {
		return b, err
	}
	if err := in.addTraces(ctx, b); err != nil {
		return nil, err
	}
	return b, in.addWallets(ctx, b)
}

// transactionsOf reads the transactions of a bundle.
func (r *Reader) transactionsOf(ctx context.Context, mcSeqno uint32) ([]*record.Transaction, error) {
	var all []*record.Transaction
	if n := len(r.View.Memory); n > 0 {
		for row := range r.View.Memory[n-1].All(&table.Transactions.Table) {
			tx := new(record.Transaction)
			if err := stored.Unpack(tx, []byte(row.Source)); err != nil {
				return nil, err
			}
			all = append(all, tx)
		}
	} else {
		const pageSize = 1000
		seqno := int32(mcSeqno)
		f := &list.TransactionFilter{McSeqno: &seqno, Utime: list.Everything, Lts: list.Everything}
		for more, after := true, (*list.TransactionKey)(nil); more; {
			page, next, err := r.Store.Transactions(ctx, r.View, f, paging.Page{Limit: pageSize}, after)
			if err != nil {
				return nil, err
			}
			if all, more = append(all, page...), next && len(page) > 0; more {
				key := list.KeyOf(page[len(page)-1])
				after = &key
			}
		}
	}
	slices.SortFunc(all, trace.Order)
	return all, nil
}

// addTraces reads the traces of the transactions of a bundle, with their actions once no
// message of them is open.
func (r *Reader) addTraces(ctx context.Context, b *Bundle) error {
	traces, err := r.tracesOf(ctx, b)
	if err != nil {
		return err
	}
	b.TraceOf = make([]int, len(traces))
	index, distinct := map[list.Hash]int{}, []*record.Trace{}
	for i, t := range traces {
		if t == nil {
			b.TraceOf[i] = -1
			continue
		}
		at, known := index[list.Hash(t.Id)]
		if !known {
			at = len(distinct)
			index[list.Hash(t.Id)], distinct = at, append(distinct, t)
		}
		b.TraceOf[i] = at
	}
	rows, err := r.rowsOf(ctx, distinct, maxStreamedNodes+2*len(b.Transactions))
	if err != nil {
		return err
	}
	for _, t := range distinct {
		row := rows[list.Hash(t.Id)]
		if row.Trace == nil {
			row.Trace = t
		}
		b.Traces = append(b.Traces, row)
	}
	return nil
}

// tracesOf are the traces of the transactions of a bundle, nil where none is known. What
// the bundle did to them lies beside them in memory.
func (r *Reader) tracesOf(ctx context.Context, b *Bundle) ([]*record.Trace, error) {
	n := len(r.View.Memory)
	if n == 0 {
		return r.Store.TracesOf(ctx, r.View, b.Transactions)
	}
	t := &table.TransactionTraces.Table
	column := func(name string) int {
		place, _ := t.Place(name)
		return place.At
	}
	workchain, prefix, rest, lt := column("workchain"), column("account_prefix"), column("account_rest"), column("lt")
	of := map[[4]uint64]*record.Trace{}
	for row := range r.View.Memory[n-1].All(t) {
		found := new(record.Trace)
		if err := found.UnmarshalVT([]byte(row.Source)); err != nil {
			return nil, fmt.Errorf("trace in memory: %w", err)
		}
		of[[4]uint64{uint64(uint32(row.Words[workchain])), row.Words[prefix], row.Words[rest], row.Words[lt]}] = found
	}
	traces := make([]*record.Trace, len(b.Transactions))
	for i, tx := range b.Transactions {
		id := schema.AccountID(tx.Account)
		traces[i] = of[[4]uint64{uint64(uint32(schema.Workchain(tx.Account))), schema.Prefix(id), schema.Rest(id), tx.Lt}]
	}
	return traces, nil
}

// rowsOf reads the rows of traces: of those that began in memory without the tables. The
// smallest of them have their transactions, up to so many together.
func (r *Reader) rowsOf(ctx context.Context, traces []*record.Trace, most int) (map[list.Hash]render.TraceRow, error) {
	whole := wholeOf(traces, most)
	rows := make(map[list.Hash]render.TraceRow, len(traces))
	var young, old []*record.Trace
	first := r.View.Watermark
	for _, t := range traces {
		if len(r.View.Memory) > 0 && t.McSeqnoStart > r.View.Tables && t.State != record.TraceState_TRACE_BROKEN {
			young, first = append(young, t), min(first, t.McSeqnoStart)
		} else {
			old = append(old, t)
		}
	}
	inMemory := *r.View
	inMemory.Tables, inMemory.Memory, inMemory.Held = 0, r.View.Memory.After(first-1), r.View.Held.After(first-1)
	for _, part := range []struct {
		view   *head.View
		traces []*record.Trace
	}{{&inMemory, young}, {r.View, old}} {
		with := *r
		with.View = part.view
		for left := part.traces; len(left) > 0; {
			n, nodes := 0, 0
			for ; n < min(len(left), maxStreamedTraces); n++ {
				if whole[left[n]] {
					nodes += int(left[n].Nodes)
				}
				if n > 0 && nodes > traced.MaxTransactions {
					break
				}
			}
			read, err := with.traceRows(ctx, traced.Bare(left[:n]), func(t *record.Trace) bool { return whole[t] }, true, func(*record.Action) bool { return true })
			if err != nil {
				return nil, err
			}
			maps.Copy(rows, read)
			left = left[n:]
		}
	}
	return rows, nil
}

const (
	// maxStreamedTraces is how many traces of a bundle are read at once.
	maxStreamedTraces = 500
	// maxStreamedNodes is how many transactions the traces of a bundle have together, besides
	// those of the bundle, that are shown as a whole: a trace that goes on for long is read
	// again with each bundle.
	maxStreamedNodes = 20_000
)

// wholeOf are the traces that are shown with all of their transactions, the smallest first,
// up to so many transactions.
func wholeOf(traces []*record.Trace, most int) map[*record.Trace]bool {
	whole := make(map[*record.Trace]bool, len(traces))
	for _, t := range slices.SortedStableFunc(slices.Values(traces), func(a, b *record.Trace) int { return cmp.Compare(a.Nodes, b.Nodes) }) {
		if most -= int(t.Nodes); t.Nodes > maxTraceNodes || most < 0 {
			break
		}
		whole[t] = true
	}
	return whole
}

// addWallets reads the jetton wallets of which a bundle says something new.
func (r *Reader) addWallets(ctx context.Context, b *Bundle) error {
	b.Wallets, b.Overwritten = map[address.Address]*record.Contract{}, map[address.Address]*record.Contract{}
	if n := len(r.View.Memory); n > 0 {
		for row := range r.View.Memory[n-1].All(&table.Contracts.Table) {
			c := new(record.Contract)
			if err := c.UnmarshalVT([]byte(row.Source)); err != nil {
				return err
			}
			if len(c.Account) == address.Size && c.JettonWallet != nil {
				b.Wallets[address.Address(c.Account)] = c
			}
		}
		return nil
	}
	touched := api.Book{}
	for _, tx := range b.Transactions {
		touched.Add(tx.Account)
	}
	contracts, err := r.Contracts(ctx, touched)
	for a, c := range contracts {
		switch {
		case c.JettonWallet == nil || c.FirstMcSeqno > b.MCSeqno:
		case c.McSeqno == b.MCSeqno:
			b.Wallets[a] = c
		case c.McSeqno > b.MCSeqno:
			b.Overwritten[a] = c
		}
	}
	return err
}

// Of are the transactions of the bundle that are of one of its traces.
func (b *Bundle) Of(at int) (some []*record.Transaction) {
	for i, tx := range b.Transactions {
		if b.TraceOf[i] == at {
			some = append(some, tx)
		}
	}
	return some
}

package traced

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Filter says which traces are wanted; list.Everything and the zero value mean all that
// have no open messages. Those that are named, by their id, a transaction or a message,
// are found with open ones, too.
type Filter struct {
	// Account has a transaction in the trace.
	Account *address.Address
	// IDs, Transactions and Messages name traces; a trace is wanted that one of each
	// list names. Messages are named by their hashes, raw or normalised.
	IDs, Transactions, Messages []Hash
	// McSeqno is the bundle with which the trace ended.
	McSeqno *int32
	// Utime and Lts are of the end of the trace.
	Utime, Lts list.Span
	// Ahead is called with the accounts of traces that may be wanted, if their transactions
	// are read beside them, before these are. May be nil.
	Ahead func(context.Context, []sql.AccountKey)
}

// Key is the key of a trace in a list.
type Key struct {
	EndUtime uint32
	EndLt    uint64
	ID       Hash
}

// Trace is a trace of a list, and where its transactions are, or they themselves, if that
// was read beside it.
type Trace struct {
	*record.Trace
	members      []plan.Row
	transactions []*record.Transaction
}

// AccountsOf are the accounts of the transactions of traces, as far as it was read where these
// are but not yet what they are.
func AccountsOf(traces []Trace) []sql.AccountKey {
	members := traceMembers{}
	for _, t := range traces {
		if t.transactions == nil {
			members.add(t.members)
		}
	}
	return members.accounts()
}

// KeyOf returns the key of a trace.
func KeyOf(t Trace) Key { return Key{t.EndUtime, t.EndLt, Hash(t.Id)} }

// named reports whether the filter names traces, so that there are few.
func (f *Filter) named() bool { return len(f.IDs)+len(f.Transactions)+len(f.Messages) > 0 }

func (f *Filter) compare(a, b *Key, descending bool) int {
	c := cmp.Compare(a.EndLt, b.EndLt)
	if f.Utime.Given {
		c = cmp.Compare(a.EndUtime, b.EndUtime)
	}
	if c = cmp.Or(c, bytes.Compare(a.ID[:], b.ID[:])); descending {
		return -c
	}
	return c
}

// matches checks everything that the record tells.
func (f *Filter) matches(t *record.Trace) bool {
	return (len(f.IDs) == 0 || slices.Contains(f.IDs, Hash(t.Id)) || slices.ContainsFunc(t.Replaces, func(id []byte) bool { return slices.Contains(f.IDs, Hash(id)) })) &&
		(f.McSeqno == nil || int64(t.McSeqnoEnd) == int64(*f.McSeqno) && t.PendingEdges == 0) &&
		f.Utime.Has(uint64(t.EndUtime)) && f.Lts.Has(t.EndLt)
}

// Traces is a page of the list, and whether there are more after it. With after, the
// list begins behind that key.
func (l *Lists) Traces(ctx context.Context, v *head.View, f *Filter, page paging.Page, after *Key) ([]Trace, bool, error) {
	narrowed := *f
	f = &narrowed
	if some, err := l.narrowToBundle(ctx, v, f.McSeqno, &f.Lts); err != nil || !some {
		return nil, false, err
	}
	named := f.named()
	records := &paging.Records[Trace, Key]{
		Page: page, After: after, Key: KeyOf,
		Compare: func(a, b *Key) int { return f.compare(a, b, page.Descending) },
		Match:   func(t Trace) bool { return (named || t.McSeqnoEnd <= v.Watermark) && f.matches(t.Trace) },
		Same:    func(a, b Trace) bool { return bytes.Equal(a.Id, b.Id) },
	}
	if named {
		found, err := l.namedTraces(ctx, v, f, l.besideMembers)
		if err != nil {
			return nil, false, err
		}
		f.IDs = nil // those found may be what these became parts of
		list, more := records.All(found)
		return list, more, nil
	}
	q := &paging.Query[Trace, Key]{
		Records: records, Source: plan.Source{Tables: l.reader, Memory: v.Memory}, Plan: tracePlan(v, f, page.Descending), RowsOfItem: 1,
		RowOf: func(k *Key) plan.Row {
			return plan.Row{traceUtime: uint64(k.EndUtime), traceLt: k.EndLt, traceID: schema.Prefix(k.ID[:])}
		},
		Read: func(ctx context.Context, items [][]plan.Row) ([]Trace, error) {
			prefixes := make([]uint64, len(items))
			for i, item := range items {
				prefixes[i] = item[0][traceID]
			}
			found, members, err := l.besideMembers(ctx, v, prefixes, l.tracesAt)
			return members.of(found.whole()), err
		},
	}
	return q.Run(ctx)
}

// narrowToBundle narrows a list that is of one bundle only to the lts of its blocks; it
// is false where there is no such bundle.
func (l *Lists) narrowToBundle(ctx context.Context, v *head.View, mcSeqno *int32, lts *list.Span) (bool, error) {
	if mcSeqno == nil {
		return true, nil
	}
	if *mcSeqno < 0 || uint32(*mcSeqno) > v.Watermark {
		return false, nil
	}
	blocks, err := l.chain.Bundle(ctx, v, *mcSeqno)
	if err != nil || len(blocks) == 0 {
		return false, err
	}
	reach := list.Span{From: ^uint64(0)}
	for _, b := range blocks {
		reach.From, reach.To = min(reach.From, b.StartLt), max(reach.To, b.EndLt)
	}
	*lts = lts.And(reach)
	return lts.From <= lts.To, nil
}

// The words of a row that leads to a trace.
const traceUtime, traceLt, traceID = 0, 1, 2

// tracePlan reads a list of traces_by_list.
func tracePlan(v *head.View, f *Filter, descending bool) *plan.Plan {
	id := plan.Column{Name: "trace_prefix", At: traceID}
	end := plan.Column{Name: "end_lt", At: traceLt}
	r := plan.Range{Prefix: []string{"list"}, Columns: []string{"list"}, Values: []any{schema.AllTraces.Number(nil)}, Projection: plan.NoProjection}
	if f.Account != nil {
		r.Values = []any{schema.TracesOf.Number(f.Account[:])}
	}
	if f.Utime.Given {
		end = plan.Column{Name: "end_utime", At: traceUtime, Type: plan.Uint32}
		r.Projection = "by_time"
	}
	r.Where.Between("end_utime", f.Utime.From, f.Utime.To, 1<<32-1)
	r.Where.Between("end_lt", f.Lts.From, f.Lts.To, ^uint64(0))
	if f.McSeqno != nil {
		r.Where.Add(sql.Is("mc_seqno", *f.McSeqno))
	}
	return &plan.Plan{
		Reads: "trace keys", Table: "traces_by_list", Descending: descending, SmallBlocks: true, Bundle: "mc_seqno", Watermark: v.Tables,
		Columns: []plan.Column{{Name: "end_utime", At: traceUtime, Type: plan.Uint32}, {Name: "end_lt", At: traceLt}, id},
		Keys:    []string{end.Name, id.Name}, Seek: []plan.Column{end, id},
		Order:  []plan.Term{{At: end.At, Words: 1, Descending: descending}, {At: id.At, Words: 1, Descending: descending}},
		Ranges: []plan.Range{r},
	}
}

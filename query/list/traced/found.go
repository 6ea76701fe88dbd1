package traced

import (
	"context"
	"fmt"
	"slices"

	"tonscribe/query/head"
	"tonscribe/query/list/paging"
	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/schema/table"
)

// foundTraces are traces by their ids, and which of these became parts of others.
type foundTraces struct {
	newest   map[Hash]*record.Trace
	replaced map[Hash]Hash
}

// whole are those that are no parts of others.
func (f foundTraces) whole() (list []*record.Trace) {
	for id, t := range f.newest {
		if _, is := f.replaced[id]; !is {
			list = append(list, t)
		}
	}
	return list
}

// tracesAt reads the traces whose ids have some prefixes, each as of the newest bundle
// that the view shows, or, where the tables have only a newer state, as of that. Rows
// under the ids of traces that became parts of others bring these, too.
func (l *Lists) tracesAt(ctx context.Context, v *head.View, prefixes []uint64) (foundTraces, error) {
	rows, err := l.traceRows(ctx, v, prefixes)
	return foundIn(v, rows), err
}

// traceRows reads all rows of traces whose ids have some prefixes.
func (l *Lists) traceRows(ctx context.Context, v *head.View, prefixes []uint64) ([]traceRecord, error) {
	return paging.InChunks(ctx, prefixes, func(ctx context.Context, some []uint64) ([]traceRecord, error) {
		c := sql.Conditions{sql.Any("trace_prefix", some)}
		list, err := reader.Records(ctx, l.reader, "traces", traceStatement(c.String()), unpackTrace)
		if err != nil {
			return nil, err
		}
		held, err := heldTraces(ctx, v.Memory, c)
		return append(list, held...), err
	})
}

// traceStatement reads the traces that a condition holds for, for unpackTrace.
func traceStatement(where string) string {
	return "SELECT " + stored.TraceSQL + " AS record FROM traces WHERE " + where
}

// heldTraces finds traces in memory.
func heldTraces(ctx context.Context, bundles memory.Bundles, c sql.Conditions) ([]traceRecord, error) {
	rows, err := bundles.Find(ctx, table.Traces.Name, c)
	if err != nil {
		return nil, err
	}
	list := make([]traceRecord, len(rows))
	place, _ := table.Traces.Place("trace_prefix")
	for i, r := range rows {
		reader.Yield(i)
		list[i] = traceRecord{new(record.Trace), r.Words[place.At]}
		if err := list[i].UnmarshalVT([]byte(r.Source)); err != nil {
			return nil, fmt.Errorf("trace in memory: %w", err)
		}
	}
	return list, nil
}

// foundIn takes of each trace the row that counts.
func foundIn(v *head.View, rows []traceRecord) foundTraces {
	found := foundTraces{map[Hash]*record.Trace{}, map[Hash]Hash{}}
	for _, t := range rows {
		if t.McSeqnoStart > v.Watermark {
			continue
		}
		id := Hash(t.Id)
		if have := found.newest[id]; have == nil || t.newerThan(have, v.Watermark) {
			found.newest[id] = t.Trace
		}
		for _, part := range t.Replaces {
			if t.McSeqnoEnd <= v.Watermark && len(part) == len(Hash{}) {
				found.replaced[Hash(part)] = id
			}
		}
	}
	return found
}

// traceRecord is a row of traces, behind the prefix of the id that it is under.
type traceRecord struct {
	*record.Trace
	prefix uint64
}

// newerThan reports whether a state of a trace counts in place of another one: the
// newest that the view shows does, else the oldest.
func (t traceRecord) newerThan(o *record.Trace, watermark uint32) bool {
	switch visible, other := t.McSeqnoEnd <= watermark, o.McSeqnoEnd <= watermark; {
	case visible != other:
		return visible
	case visible:
		return t.McSeqnoEnd > o.McSeqnoEnd
	}
	return t.McSeqnoEnd < o.McSeqnoEnd
}

func unpackTrace(raw []byte) (traceRecord, error) {
	t := traceRecord{Trace: new(record.Trace)}
	var err error
	t.prefix, err = stored.UnpackTrace(t.Trace, raw)
	return t, err
}

// maxReplaced is how often one trace may have become a part of the next one.
const maxReplaced = 16

// resolved reads the traces whose ids have some prefixes, and those that they became
// parts of.
func (l *Lists) resolved(ctx context.Context, v *head.View, prefixes []uint64) (foundTraces, error) {
	found, err := l.tracesAt(ctx, v, prefixes)
	if err != nil {
		return found, err
	}
	known := make(map[uint64]bool, len(prefixes))
	for _, p := range prefixes {
		known[p] = true
	}
	return found, l.follow(ctx, v, found, known)
}

// follow adds the traces that those found became parts of. known are the prefixes of
// which all is found.
func (l *Lists) follow(ctx context.Context, v *head.View, found foundTraces, known map[uint64]bool) error {
	for range maxReplaced {
		var more []uint64
		for _, id := range found.replaced {
			if p := schema.Prefix(id[:]); !known[p] {
				known[p] = true
				more = append(more, p)
			}
		}
		if len(more) == 0 {
			break
		}
		next, err := l.tracesAt(ctx, v, more)
		if err != nil {
			return err
		}
		for id, t := range next.newest { // read under its own id, so that it is the newest
			found.newest[id] = t
		}
		for id, t := range next.replaced {
			found.replaced[id] = t
		}
	}
	return nil
}

// of returns the trace of an id: what it became a part of, nil for none.
func (f foundTraces) of(id Hash) *record.Trace {
	for range maxReplaced {
		next, is := f.replaced[id]
		if !is {
			break
		}
		id = next
	}
	return f.newest[id]
}

// traceIndex finds traces by the prefixes of their ids.
type traceIndex map[uint64][]tracePair

// tracePair is a trace as it is, and what it became a part of.
type tracePair struct{ own, whole *record.Trace }

func (f foundTraces) index() traceIndex {
	x := traceIndex{}
	for id, t := range f.newest {
		p := schema.Prefix(id[:])
		x[p] = append(x[p], tracePair{t, f.of(id)})
	}
	return x
}

// at returns the whole trace that has something of a range of lts, nil for none. Logs are
// sent after, first messages before the lts of the trace.
func (x traceIndex) at(prefix, from, to uint64) *record.Trace {
	for _, t := range x[prefix] {
		if t.own.StartLt <= to && from <= t.own.EndLt || len(x[prefix]) == 1 {
			return t.whole
		}
	}
	return nil
}

// shows reports whether a trace of an lt is there as the view shows it.
func (x traceIndex) shows(v *head.View, prefix, lt uint64) bool {
	return slices.ContainsFunc(x[prefix], func(t tracePair) bool {
		return t.own.StartLt <= lt && lt <= t.own.EndLt && t.own.McSeqnoEnd <= v.Watermark
	})
}

package list

import (
	"context"
	"errors"
	"slices"

	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
)

// records is what a list holds: records R in the order of their keys K. Rows only
// lead to candidates.
type records[R, K any] struct {
	page  Page
	after *K // behind which the list begins, nil for its beginning
	key   func(R) K
	// compare is the order of the list.
	compare func(a, b *K) int
	// match checks everything against the record itself, the watermark too.
	match func(R) bool
	// same reports whether two neighbours are one.
	same func(a, b R) bool
	// newer puts the one to be kept first of those that are the same. May be nil.
	newer func(a, b R) int
	// join adds what another one of the same says. May be nil.
	join func(into *R, other R)
}

// take keeps what belongs to the list, once each, in order.
func (l *records[R, K]) take(list []R) []R {
	type entry struct {
		key K
		r   R
	}
	all := make([]entry, 0, len(list))
	for _, r := range list {
		if !l.match(r) {
			continue
		}
		if e := (entry{l.key(r), r}); l.after == nil || l.compare(&e.key, l.after) > 0 {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		c := l.compare(&a.key, &b.key)
		if c == 0 && l.newer != nil {
			c = l.newer(a.r, b.r)
		}
		return c
	})
	list = list[:0]
	for _, e := range all {
		n := len(list)
		switch {
		case n == 0 || !l.same(list[n-1], e.r):
			list = append(list, e.r)
		case l.join != nil:
			l.join(&list[n-1], e.r)
		}
	}
	return list
}

// cut makes a page, behind some to be skipped, and reports whether there are more
// after it.
func (l *records[R, K]) cut(list []R, skip int) ([]R, bool) {
	list = list[min(skip, len(list)):]
	return list[:min(l.page.Limit, len(list))], len(list) > l.page.Limit
}

// all makes a page out of all candidates.
func (l *records[R, K]) all(list []R) ([]R, bool) { return l.cut(l.take(list), l.page.Offset) }

// query reads a page of a list by a plan.
type query[R, K any] struct {
	*records[R, K]
	source plan.Source
	plan   *plan.Plan
	// rowOf returns where a key lies in the plan's order.
	rowOf func(*K) plan.Row
	// read reads the records that rows lead to; those that are one item come
	// together.
	read func(ctx context.Context, items [][]plan.Row) ([]R, error)
	// rowsOfItem is how many rows an item has, about.
	rowsOfItem int
	// seek is that of the scan. May be nil.
	seek func(ctx context.Context, items int) (group plan.Row, before int, err error)
	// unpack reads a record, which counts as what reads says. Only plans that are
	// direct need them.
	unpack func([]byte) (R, error)
	reads  string
}

const (
	// minResidual and maxCandidates are how many records are read at a time when
	// many of them may have to be dropped.
	minResidual   = 200
	maxCandidates = 2000
	// maxDirect is the largest offset up to which records are read for nothing.
	maxDirect = 100
)

// errShort says that records that were read directly do not fill the page.
var errShort = errors.New("the records do not fill the page")

// run reads the page, and reports whether there are more after it.
func (q *query[R, K]) run(ctx context.Context) ([]R, bool, error) {
	if q.plan.Direct && len(q.plan.Ranges) == 1 && q.page.Offset <= maxDirect {
		list, err := q.directly(ctx)
		if err == nil {
			list, more := q.cut(list, q.page.Offset)
			return list, more, nil
		}
		if !errors.Is(err, errShort) {
			return nil, false, err
		}
	}
	list, _, err := q.collect(ctx, q.page.Limit+1) // one more than fits tells whether there are more
	if err != nil {
		return nil, false, err
	}
	list, more := q.cut(list, 0)
	return list, more, nil
}

// scan goes through the rows of the list.
func (q *query[R, K]) scan() *plan.Scan {
	w := q.plan.Scan(q.source)
	if w.Seek = q.seek; q.after != nil && !q.plan.Unordered {
		w.After = q.rowOf(q.after)
	}
	return w
}

// collect reads candidates until there are need records behind the offset, and
// returns how much of that is left when the list ends before. One round does unless
// records have to be dropped: those of accounts that share 64 bits, or what a
// residual filter refuses.
func (q *query[R, K]) collect(ctx context.Context, need int) (page []R, left int, err error) {
	if len(q.plan.Ranges) == 0 {
		return nil, 0, nil
	}
	w := q.scan()
	skip, want := 0, need+1 // the cursor's own
	switch {
	case q.plan.Residual:
		skip, want = q.page.Offset, max(want, minResidual)
	case q.plan.Outdated:
		skip = q.page.Offset
		want += skip
	default:
		w.Skip = q.page.Offset
	}
	for read := 0; ; {
		items, err := w.Next(ctx, want, q.rowsOfItem)
		if err != nil {
			return nil, 0, err
		}
		if read += len(items); q.plan.Residual {
			if err := reader.Dropped(read, q.page.Limit+q.page.Offset); err != nil {
				return nil, 0, err
			}
		}
		if len(items) > 0 {
			list, err := q.read(ctx, items)
			if err != nil {
				return nil, 0, err
			}
			page = q.take(append(page, list...))
		}
		if w.Ended() || !q.plan.Unordered && len(page) >= skip+need {
			passed := min(skip, len(page))
			return page[passed:], w.Skip + skip - passed, nil
		}
		want = min(2*want, maxCandidates)
	}
}

// directly reads the records of the first so many rows, or returns errShort when
// some of them were there twice, so that the page is not full.
func (q *query[R, K]) directly(ctx context.Context) ([]R, error) {
	var from plan.Row
	if q.after != nil {
		from = q.rowOf(q.after)
	}
	limit := q.page.Limit + q.page.Offset + 2
	if !q.plan.Unique {
		limit += limit / 8 // a record may be there twice
	}
	list, err := reader.Records(ctx, q.source.Tables, q.reads, q.plan.Records(&q.plan.Ranges[0], from, limit), q.unpack)
	if err != nil {
		return nil, err
	}
	records, err := q.plan.HeldRecords(ctx, q.source.Memory, &q.plan.Ranges[0], from)
	if err != nil {
		return nil, err
	}
	held, err := unpackAll(records, q.unpack)
	if err != nil {
		return nil, err
	}
	full := len(list) == limit
	if full {
		row := func(r R) plan.Row {
			k := q.key(r)
			return q.rowOf(&k)
		}
		last := row(list[len(list)-1])
		for !q.plan.Unique && len(list) > 0 && q.plan.SameGroup(row(list[len(list)-1]), last) {
			list = list[:len(list)-1] // the last one's group may go on
		}
		held = slices.DeleteFunc(held, func(r R) bool {
			at := row(r)
			return q.plan.Compare(at, last) > 0 || !q.plan.Unique && q.plan.SameGroup(at, last)
		})
	}
	if list = q.take(append(list, held...)); full && len(list) <= q.page.Offset+q.page.Limit {
		return nil, errShort
	}
	return list, nil
}

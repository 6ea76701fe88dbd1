package paging

import (
	"context"
	"errors"
	"slices"

	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
)

// Records is what a list holds: records R in the order of their keys K. Rows only
// lead to candidates.
type Records[R, K any] struct {
	Page  Page
	After *K // behind which the list begins, nil for its beginning
	Key   func(R) K
	// Compare is the order of the list.
	Compare func(a, b *K) int
	// Match checks everything against the record itself, the watermark too.
	Match func(R) bool
	// Same reports whether two neighbours are one.
	Same func(a, b R) bool
	// Newer puts the one to be kept first of those that are the same. May be nil.
	Newer func(a, b R) int
	// Join adds what another one of the same says. May be nil.
	Join func(into *R, other R)
}

// Take keeps what belongs to the list, once each, in order.
func (l *Records[R, K]) Take(list []R) []R {
	type entry struct {
		key K
		r   R
	}
	all := make([]entry, 0, len(list))
	for _, r := range list {
		if !l.Match(r) {
			continue
		}
		if e := (entry{l.Key(r), r}); l.After == nil || l.Compare(&e.key, l.After) > 0 {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		c := l.Compare(&a.key, &b.key)
		if c == 0 && l.Newer != nil {
			c = l.Newer(a.r, b.r)
		}
		return c
	})
	list = list[:0]
	for _, e := range all {
		n := len(list)
		switch {
		case n == 0 || !l.Same(list[n-1], e.r):
			list = append(list, e.r)
		case l.Join != nil:
			l.Join(&list[n-1], e.r)
		}
	}
	return list
}

// Cut makes a page, behind some to be skipped, and reports whether there are more
// after it.
func (l *Records[R, K]) Cut(list []R, skip int) ([]R, bool) {
	list = list[min(skip, len(list)):]
	return list[:min(l.Page.Limit, len(list))], len(list) > l.Page.Limit
}

// All makes a page out of all candidates.
func (l *Records[R, K]) All(list []R) ([]R, bool) { return l.Cut(l.Take(list), l.Page.Offset) }

// Query reads a page of a list by a plan.
type Query[R, K any] struct {
	*Records[R, K]
	Source plan.Source
	Plan   *plan.Plan
	// RowOf returns where a key lies in the plan's order.
	RowOf func(*K) plan.Row
	// Read reads the records that rows lead to; those that are one item come
	// together.
	Read func(ctx context.Context, items [][]plan.Row) ([]R, error)
	// RowsOfItem is how many rows an item has, about.
	RowsOfItem int
	// Several reports whether an item may be several records. May be nil.
	Several func(item []plan.Row) bool
	// Seek is that of the scan. May be nil.
	Seek func(ctx context.Context, items int) (group plan.Row, before int, err error)
	// Unpack reads a record, which counts as what Reads says. Only plans that are
	// direct need them.
	Unpack func([]byte) (R, error)
	Reads  string
}

const (
	// minResidual and maxCandidates are how many records are read at a time when
	// many of them may have to be dropped.
	minResidual   = 200
	maxCandidates = 2000
	// maxDirect is the largest offset up to which records are read for nothing.
	maxDirect = 100
)

// ErrShort says that records that were read directly do not fill the page.
var ErrShort = errors.New("the records do not fill the page")

// Run reads the page, and reports whether there are more after it.
func (q *Query[R, K]) Run(ctx context.Context) ([]R, bool, error) {
	if q.Plan.Direct && len(q.Plan.Ranges) == 1 && q.Page.Offset <= maxDirect {
		list, err := q.directly(ctx)
		if err == nil {
			list, more := q.Cut(list, q.Page.Offset)
			return list, more, nil
		}
		if !errors.Is(err, ErrShort) {
			return nil, false, err
		}
	}
	list, _, err := q.Collect(ctx, q.Page.Limit+1) // one more than fits tells whether there are more
	if err != nil {
		return nil, false, err
	}
	list, more := q.Cut(list, 0)
	return list, more, nil
}

// Scan goes through the rows of the list.
func (q *Query[R, K]) Scan() *plan.Scan {
	w := q.Plan.Scan(q.Source)
	if w.Seek = q.Seek; q.After != nil && !q.Plan.Unordered {
		w.After = q.RowOf(q.After)
	}
	return w
}

// Collect reads candidates until there are need records behind the offset, and
// returns how much of that is left when the list ends before. One round does unless
// records have to be dropped: those of accounts that share 64 bits, or what a
// residual filter refuses.
func (q *Query[R, K]) Collect(ctx context.Context, need int) (page []R, left int, err error) {
	if len(q.Plan.Ranges) == 0 {
		return nil, 0, nil
	}
	w := q.Scan()
	skip, want := 0, need+1 // the cursor's own
	switch {
	case q.Plan.Residual:
		skip, want = q.Page.Offset, max(want, minResidual)
	case q.Plan.Outdated:
		skip = q.Page.Offset
		want += skip
	default:
		w.Skip = q.Page.Offset
		if q.Several != nil {
			w.Count = q.count
		}
	}
	for read := 0; ; {
		items, err := w.Next(ctx, want, q.RowsOfItem)
		if err != nil {
			return nil, 0, err
		}
		skip, w.Inside = skip+w.Inside, 0
		if read += len(items); q.Plan.Residual {
			if err := reader.Dropped(read, q.Page.Limit+q.Page.Offset); err != nil {
				return nil, 0, err
			}
		}
		if len(items) > 0 {
			list, err := q.Read(ctx, items)
			if err != nil {
				return nil, 0, err
			}
			page = q.Take(append(page, list...))
		}
		if w.Ended() || !q.Plan.Unordered && len(page) >= skip+need {
			passed := min(skip, len(page))
			return page[passed:], w.Skip + skip - passed, nil
		}
		want = min(2*want, maxCandidates)
	}
}

// count returns how many records each of some items is.
func (q *Query[R, K]) count(ctx context.Context, items [][]plan.Row) ([]int, error) {
	counts := make([]int, len(items))
	var several [][]plan.Row
	for i, item := range items {
		if counts[i] = 1; q.Several(item) {
			counts[i], several = 0, append(several, item)
		}
	}
	list, err := InChunks(ctx, several, q.Read)
	if err != nil {
		return nil, err
	}
	whole := *q.Records
	whole.After = nil
	for _, r := range whole.Take(list) {
		k := q.Key(r)
		row := q.RowOf(&k)
		if row == nil {
			continue // what was read with it, and is not of the plan
		}
		if i, found := slices.BinarySearchFunc(items, row, func(item []plan.Row, row plan.Row) int { return q.Plan.Compare(item[0], row) }); found {
			counts[i]++
		}
	}
	return counts, nil
}

// directly reads the records of the first so many rows, or returns ErrShort when
// some of them were there twice, so that the page is not full.
func (q *Query[R, K]) directly(ctx context.Context) ([]R, error) {
	var from plan.Row
	if q.After != nil {
		from = q.RowOf(q.After)
	}
	limit := q.Page.Limit + q.Page.Offset + 2
	if !q.Plan.Unique {
		limit += limit / 8 // a record may be there twice
	}
	if q.Page.Beside != nil {
		q.Page.Beside(q.Plan, from, limit)
	}
	list, err := reader.Records(ctx, q.Source.Tables, q.Reads, q.Plan.Records(&q.Plan.Ranges[0], from, limit), q.Unpack)
	if err != nil {
		return nil, err
	}
	records, err := q.Plan.HeldRecords(ctx, q.Source.Memory, &q.Plan.Ranges[0], from)
	if err != nil {
		return nil, err
	}
	held, err := UnpackAll(records, q.Unpack)
	if err != nil {
		return nil, err
	}
	full := len(list) == limit
	if full {
		row := func(r R) plan.Row {
			k := q.Key(r)
			return q.RowOf(&k)
		}
		last := row(list[len(list)-1])
		for !q.Plan.Unique && len(list) > 0 && q.Plan.SameGroup(row(list[len(list)-1]), last) {
			list = list[:len(list)-1] // the last one's group may go on
		}
		held = slices.DeleteFunc(held, func(r R) bool {
			at := row(r)
			return q.Plan.Compare(at, last) > 0 || !q.Plan.Unique && q.Plan.SameGroup(at, last)
		})
	}
	if list = q.Take(append(list, held...)); full && len(list) <= q.Page.Offset+q.Page.Limit {
		return nil, ErrShort
	}
	return list, nil
}

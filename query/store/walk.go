package store

import (
	"context"
	"slices"
)

// walk reads a list of keys out of a table in the order of the table's own key,
// which is the only one that ClickHouse reads no more of than is asked for.
//
// That order is a little coarser than the list's: rows that share the leading
// columns, a group, come as they lie, and a row may come twice before a merge.
// So groups are read to their ends, put in order and counted here.
type walk[R any] struct {
	// read reads up to limit rows from the group of a row on, or from the
	// beginning.
	read func(ctx context.Context, from *R, limit int) ([]R, error)
	// group says that two rows share the leading columns.
	group func(a, b *R) bool
	// compare is the list's order as far as rows tell it. Rows that are equal are
	// one item.
	compare func(a, b *R) int
	// jump finds, for lists without after, the group that so many items lead to,
	// and how many lie before it. May be nil.
	jump func(ctx context.Context, items int) (group *R, before int, err error)
	// after is the place behind which the list begins; an item that equals it is
	// given out, since rows tell accounts and hashes apart by prefixes only.
	after *R
	// from is where to begin to read, if not at after.
	from *R
	// skip is how many items to leave out.
	skip int
	// surplus are items that were read and not asked for yet.
	surplus [][]R
	// exhausted says that there are no more rows.
	exhausted bool
}

// ended says that next has nothing more to give.
func (w *walk[R]) ended() bool { return w.exhausted && len(w.surplus) == 0 }

// mostRows is how many rows one statement reads at most unless a group is
// larger.
const mostRows = 100_000

// leastJump is how many items to leave out are worth a statement of their own.
const leastJump = 500

// next returns the next items: want of them unless the list ends.
func (w *walk[R]) next(ctx context.Context, want, rowsOfItem int) (items [][]R, err error) {
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	items, w.surplus = w.surplus, nil
	grown := 0
	for len(items) < want && !w.exhausted {
		// Room for the group that has to be read to its end.
		limit := max(min((w.skip+want-len(items))*rowsOfItem+8, mostRows), grown)
		rows, err := w.read(ctx, w.from, limit)
		if err != nil {
			return nil, err
		}
		if len(rows) < limit {
			w.exhausted = true
		} else {
			last := &rows[len(rows)-1]
			begin := slices.IndexFunc(rows, func(r R) bool { return w.group(&r, last) })
			if begin == 0 {
				grown = 2 * limit
				continue
			}
			from := rows[begin]
			w.from, rows = &from, rows[:begin]
		}
		w.arrange(rows)
		items = w.collect(items, rows)
	}
	if len(items) > want {
		items, w.surplus = items[:want:want], items[want:]
	}
	return items, nil
}

// begin finds where to begin to read.
func (w *walk[R]) begin(ctx context.Context) error {
	if w.from != nil {
		return nil
	}
	w.from = w.after
	if w.after != nil || w.jump == nil || w.skip < leastJump {
		return nil
	}
	group, before, err := w.jump(ctx, w.skip)
	if group != nil {
		w.from, w.skip = group, w.skip-before
	}
	return err
}

// arrange puts the rows of each group in order.
func (w *walk[R]) arrange(rows []R) {
	for start := 0; start < len(rows); {
		stop := start + 1
		for stop < len(rows) && w.group(&rows[start], &rows[stop]) {
			stop++
		}
		if stop-start > 1 {
			slices.SortStableFunc(rows[start:stop], func(a, b R) int { return w.compare(&a, &b) })
		}
		start = stop
	}
}

// collect adds the items behind after, without those to be skipped.
func (w *walk[R]) collect(items [][]R, rows []R) [][]R {
	for start := 0; start < len(rows); {
		stop := start + 1
		for stop < len(rows) && w.compare(&rows[start], &rows[stop]) == 0 {
			stop++
		}
		place := 1
		if w.after != nil {
			place = w.compare(&rows[start], w.after)
		}
		switch {
		case place < 0:
		case place > 0 && w.skip > 0:
			w.skip--
		default:
			items = append(items, rows[start:stop])
		}
		start = stop
	}
	return items
}

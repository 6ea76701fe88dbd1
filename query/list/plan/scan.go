package plan

import (
	"context"
	"slices"
)

// Scan reads the rows of a list in the order of the table's own key.
//
// That order is a little coarser than the list's: rows of a group come as they lie,
// and a row may come twice before a merge. So groups are read to their ends, put in
// order and counted here.
type Scan struct {
	// read reads up to limit rows from the group of a row on, or from the
	// beginning.
	read func(ctx context.Context, from Row, limit int) ([]Row, error)
	// sameGroup and compare are those of a plan.
	sameGroup func(a, b Row) bool
	compare   func(a, b Row) int
	// Seek finds, for lists without After, the group that so many items lead to,
	// and how many lie before it. May be nil.
	Seek func(ctx context.Context, items int) (group Row, before int, err error)
	// After is the key behind which the list begins; an item that equals it is
	// given out, since rows tell accounts and hashes apart by prefixes only.
	After Row
	// from is where to begin to read, if not at After.
	from Row
	// Skip is how many items to leave out.
	Skip int
	// Count returns how many each of some items counts as, when that is not one. May be
	// nil.
	Count func(ctx context.Context, items [][]Row) ([]int, error)
	// Inside is how much of the first item that Next gave is to be left out, too.
	Inside int
	// surplus are items that were read and not asked for yet.
	surplus [][]Row
	// exhausted reports whether there are no more rows.
	exhausted bool
	// rows and found are how many rows were read, and how many items these were.
	rows, found int
}

// Scan returns a scan of the plan's ranges.
func (p *Plan) Scan(s Source) *Scan {
	w := &Scan{sameGroup: p.SameGroup, compare: p.Compare}
	w.read = func(ctx context.Context, from Row, limit int) ([]Row, error) { return p.rows(ctx, s, from, limit) }
	if p.Whole {
		w.read = p.wholeRows(s)
	}
	return w
}

// Ended reports whether Next has nothing more to give.
func (w *Scan) Ended() bool { return w.exhausted && len(w.surplus) == 0 }

// maxRows is how many rows one statement reads at most unless a group is
// larger.
const maxRows = 100_000

// maxRowsOfItem is how many rows of an item more are read for, once those read before had so
// many: before a merge each part may have a newer row of one that changes often.
const maxRowsOfItem = 32

// minSeek is how many items to leave out are worth a statement of their own.
const minSeek = 500

// Next returns the next items: want of them unless the list ends.
func (w *Scan) Next(ctx context.Context, want, rowsOfItem int) (items [][]Row, err error) {
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	items, w.surplus = w.surplus, nil
	grown := 0
	for len(items) < want && !w.exhausted {
		// Room for the group that has to be read to its end.
		left := w.Skip + want - len(items)
		limit := max(min(max(left*rowsOfItem, w.rowsLike(left))+8, maxRows), grown)
		rows, err := w.read(ctx, w.from, limit)
		if err != nil {
			return nil, err
		}
		if len(rows) < limit {
			w.exhausted = true
		} else {
			last := rows[len(rows)-1]
			begin := slices.IndexFunc(rows, func(r Row) bool { return w.sameGroup(r, last) })
			if begin == 0 {
				grown = 2 * limit
				continue
			}
			w.from, rows = rows[begin], rows[:begin]
		}
		w.arrange(rows)
		if items, err = w.collect(ctx, items, rows); err != nil {
			return nil, err
		}
		w.rows, w.found = w.rows+len(rows), w.found+left-(w.Skip+want-len(items))
	}
	if len(items) > want {
		items, w.surplus = items[:want:want], items[want:]
	}
	return items, nil
}

// rowsLike is how many rows so many items have if they are like those before.
func (w *Scan) rowsLike(items int) int {
	if w.found == 0 {
		return 0
	}
	return items * min(w.rows, maxRowsOfItem*w.found) / w.found
}

// begin finds where to begin to read.
func (w *Scan) begin(ctx context.Context) error {
	if w.from != nil {
		return nil
	}
	w.from = w.After
	if w.After != nil || w.Seek == nil || w.Skip < minSeek {
		return nil
	}
	group, before, err := w.Seek(ctx, w.Skip)
	if group != nil {
		w.from, w.Skip = group, w.Skip-before
	}
	return err
}

// arrange puts the rows of each group in order.
func (w *Scan) arrange(rows []Row) {
	for start := 0; start < len(rows); {
		stop := start + 1
		for stop < len(rows) && w.sameGroup(rows[start], rows[stop]) {
			stop++
		}
		if stop-start > 1 {
			slices.SortStableFunc(rows[start:stop], w.compare)
		}
		start = stop
	}
}

// collect adds the items behind after, without those to be skipped.
func (w *Scan) collect(ctx context.Context, items [][]Row, rows []Row) ([][]Row, error) {
	var behind [][]Row
	for start := 0; start < len(rows); {
		stop := start + 1
		for stop < len(rows) && w.compare(rows[start], rows[stop]) == 0 {
			stop++
		}
		c := 1
		if w.After != nil {
			c = w.compare(rows[start], w.After)
		}
		switch {
		case c < 0:
		case c > 0:
			behind = append(behind, rows[start:stop])
		default:
			items = append(items, rows[start:stop])
		}
		start = stop
	}
	behind, err := w.skip(ctx, behind)
	return append(items, behind...), err
}

// skip leaves out items as far as that is wanted.
func (w *Scan) skip(ctx context.Context, items [][]Row) ([][]Row, error) {
	n := min(w.Skip, len(items))
	if n == 0 || w.Count == nil {
		w.Skip -= n
		return items[n:], nil
	}
	counts, err := w.Count(ctx, items[:n])
	if err != nil {
		return nil, err
	}
	for i, count := range counts {
		if count > w.Skip {
			w.Skip, w.Inside = 0, w.Skip
			return items[i:], nil
		}
		w.Skip -= count
	}
	return w.skip(ctx, items[n:])
}

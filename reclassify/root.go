// Package reclassify recognises the actions of stored traces again, with the
// recognisers of this version.
//
// In: the tables, and a range of masterchain blocks with which traces ended. Out: the
// actions of traces that are something else now, in the tables actions and
// actions_by_list; nothing for the others. Contracts are taken for what they were in
// a trace (schema.ContractIn), as the stage does it. It runs beside a pipeline and may be
// stopped and begun again at any moment.
//
// Rows replace rows by their revision. The new actions of a trace, and that the old ones
// are gone, go into actions as one block, so that nobody sees both or neither. Lists lead to
// actions: they get what is new before, and lose what is gone after, with a pause in
// between that is longer than any request takes. The package must never write a row
// that the recognisers did not make.
package reclassify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime"
	"tonscribe/schema/table"
)

// Options of a run.
type Options struct {
	// Tables are reached as the user that owns them.
	Tables *clickhouse.Client
	// From and To are the first and the last masterchain seqno with which traces ended; 0
	// means the first bundle of the tables and their watermark.
	From, To uint32
	// Out gets lines, and Progress is called now and then; nil: nobody.
	Out      io.Writer
	Progress func(Progress)
	// Pause is longer than any request of the API takes; 0 means defaultPause.
	Pause time.Duration
}

// Progress is how far a run is.
type Progress struct {
	Bundle, From, To uint32
	// Traces were recognised, the actions of Changed of them were others.
	Traces, Changed uint64
	Since           time.Time
}

// String is a line with the rate and the time that is left.
func (p Progress) String() string {
	took := max(time.Since(p.Since), time.Millisecond)
	done, all := float64(p.Bundle-p.From+1), float64(p.To-p.From+1)
	left := time.Duration(float64(took) * (all - done) / done)
	return fmt.Sprintf("bundle %d of %d to %d, %.1f %%; %d traces, %.0f/s; %d changed; %s left",
		p.Bundle, p.From, p.To, 100*done/all, p.Traces, float64(p.Traces)/took.Seconds(), p.Changed, left.Round(time.Second))
}

const (
	// defaultPause is from one step of a change to the next: requests take three
	// seconds at most, and one that began before a step ends before the one after.
	defaultPause = 10 * time.Second
	// windowTraces is how many traces bundles that are worked on together should have.
	windowTraces = 5000
	// maxChanged is how many changed traces wait for their next step before those that
	// come wait, too.
	maxChanged = 50_000
)

// ErrStopped says that a run was stopped before its end.
var ErrStopped = errors.New("stopped")

// run is one run.
type run struct {
	Options
	reader *Reader
	done   Progress
	// waiting are the changes that are not in all tables yet, oldest first.
	waiting []*changes
}

// Run recognises the actions of a range again. Where ctx ends it, it says from where to
// go on.
func Run(ctx context.Context, o Options) (Progress, error) {
	o.Pause = cmp.Or(o.Pause, defaultPause)
	if o.Out == nil {
		o.Out = io.Discard
	}
	r := &run{Options: o, reader: NewReader(o.Tables)}
	before, err := r.repaired(ctx)
	if err == nil {
		err = r.findRange(ctx)
	}
	if err != nil {
		return r.done, fmt.Errorf("reclassify: %w", err)
	}
	if err = r.all(ctx); err == nil {
		err = r.undisturbed(ctx, before)
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(r.Out, "stopped: go on with --from %d\n", r.next())
		return r.done, ErrStopped
	case err != nil:
		return r.done, fmt.Errorf("reclassify: from bundle %d on: %w", r.next(), err)
	}
	fmt.Fprintf(r.Out, "bundles %d to %d: %d traces, the actions of %d were others\n", r.From, r.To, r.done.Traces, r.done.Changed)
	return r.done, nil
}

// repaired is when the tables were repaired last.
func (r *run) repaired(ctx context.Context) (at time.Time, err error) {
	tables := []string{table.Actions.Name, table.ActionsByList.Name}
	err = r.reader.each(ctx, "SELECT max(at) FROM repairs WHERE name IN (?)", []any{tables}, func() error { return nil }, &at)
	return at, err
}

// undisturbed is an error where the tables were repaired meanwhile: actions that came back
// may stand beside those that were read before as what they are to be replaced by.
func (r *run) undisturbed(ctx context.Context, before time.Time) error {
	at, err := r.repaired(ctx)
	if err != nil || at.Equal(before) {
		return err
	}
	r.done.Bundle = r.From - 1
	return errors.New("actions were brought back by a repair meanwhile, and some may be there twice: run it once more")
}

func (r *run) findRange(ctx context.Context) error {
	watermark, err := clickhouse.ReadWatermark(ctx, r.Tables.Conn())
	if err != nil {
		return err
	}
	if r.To == 0 {
		r.To = watermark.MCSeqno
	}
	if r.To > watermark.MCSeqno {
		return fmt.Errorf("the range ends at %d, but the tables are complete up to %d", r.To, watermark.MCSeqno)
	}
	if r.From == 0 {
		if err := r.reader.each(ctx, "SELECT min(mc_seqno) FROM blocks WHERE mc_seqno > 0", nil, func() error { return nil }, &r.From); err != nil {
			return err
		}
	}
	if r.From == 0 || r.From > r.To {
		return fmt.Errorf("no bundles: the range begins at %d and ends at %d", r.From, r.To)
	}
	r.done = Progress{Bundle: r.From - 1, From: r.From, To: r.To, Since: time.Now()}
	return nil
}

// next is the bundle to go on with: the first one whose changes are not in all tables.
func (r *run) next() uint32 {
	if len(r.waiting) > 0 {
		return r.waiting[0].low
	}
	return r.done.Bundle + 1
}

// all goes through the range, some bundles at a time.
func (r *run) all(ctx context.Context) error {
	err := Windows(r.From, r.To, func(low, high uint32) (uint64, error) {
		before := r.done.Traces
		if err := r.window(ctx, low, high); err != nil {
			return 0, err
		}
		r.done.Bundle = high
		if r.Progress != nil {
			r.Progress(r.done)
		}
		return r.done.Traces - before, r.step(ctx, false)
	})
	if err != nil {
		return err
	}
	return r.step(ctx, true)
}

// Windows cuts a range of bundles into such that have about windowTraces traces. work
// returns how many there were.
func Windows(from, to uint32, work func(low, high uint32) (traces uint64, err error)) error {
	const widest = 1024
	for low, width := uint64(from), uint64(16); low <= uint64(to); {
		high := min(low+width-1, uint64(to))
		traces, err := work(uint32(low), uint32(high))
		if err != nil {
			return err
		}
		switch {
		case traces < windowTraces/2:
			width = min(2*width, widest)
		case traces > windowTraces:
			width = max(width/2, 1)
		}
		low = high + 1
	}
	return nil
}

// window recognises the traces of some bundles.
func (r *run) window(ctx context.Context, low, high uint32) error {
	c := &changes{low: low}
	err := r.reader.Each(ctx, low, high, func(t *Trace) error {
		r.done.Traces++
		if t.Missing != 0 {
			return fmt.Errorf("trace %x: %d of its %d transactions are not in the tables: 'tonscribe verify' tells what these lack, 'tonscribe repair' brings it back", t.Id, t.Missing, t.Nodes)
		}
		if t.Failed != nil {
			fmt.Fprintf(r.Out, "trace %x: recognisers failed, its actions are those of the others: %v\n", t.Id, t.Failed)
		}
		if c.add(t) {
			r.done.Changed++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.checkLists(ctx, c); err != nil {
		return err
	}
	if c.empty() {
		return nil
	}
	if err := r.insertLists(ctx, c.before); err != nil {
		return err
	}
	c.at = time.Now()
	r.waiting = append(r.waiting, c)
	return nil
}

// step takes the changes on whose time has come: all of them, in the end.
func (r *run) step(ctx context.Context, all bool) error {
	for len(r.waiting) > 0 {
		n, traces := 0, 0
		for _, c := range r.waiting {
			traces += c.traces
		}
		for _, c := range r.waiting {
			if pause := r.Pause - time.Since(c.at); pause > 0 {
				if !all && traces <= maxChanged {
					break
				}
				if err := lifetime.Sleep(ctx, pause); err != nil {
					return err
				}
			}
			traces -= c.traces
			if !c.switched {
				if err := r.insertActions(ctx, c); err != nil {
					return err
				}
				c.switched, c.at = true, time.Now()
				n++
				continue
			}
			if err := r.insertLists(ctx, c.after); err != nil {
				return err
			}
			c.done = true
			n++
		}
		r.waiting = slices.DeleteFunc(r.waiting, func(c *changes) bool { return c.done })
		if n == 0 {
			return nil
		}
	}
	return nil
}

// changes are the rows that some bundles' traces need.
type changes struct {
	low     uint32
	traces  int
	before  rows[*table.ListedAction]
	actions rows[*table.ActionRow]
	after   rows[*table.ListedAction]
	// revised are traces that were recognised again before and have not changed: a run
	// that was cut off may have left their lists behind.
	revised []*Trace

	at             time.Time // of the last step
	switched, done bool
}

func (c *changes) empty() bool { return len(c.actions.list) == 0 && len(c.after.list) == 0 }

// rows are those of a table with what reclassify decides of them.
type rows[R any] struct {
	list      []R
	revisions []uint32
	gone      []uint8
}

func (r *rows[R]) add(row R, revision uint32, gone bool) {
	r.list, r.revisions = append(r.list, row), append(r.revisions, revision)
	if gone {
		r.gone = append(r.gone, 1)
	} else {
		r.gone = append(r.gone, 0)
	}
}

// add takes a trace, and reports whether its actions are others than the stored ones. All
// of them are written anew then, behind the numbers that were there before: so that an
// action has one place in a list for whoever sees the old ones, and another one for who
// sees the new.
func (c *changes) add(t *Trace) bool {
	standing, last, free := t.Standing(), uint32(0), uint32(0)
	for _, s := range t.Stored {
		last, free = max(last, s.Revision), max(free, s.Number+1)
	}
	if slices.EqualFunc(standing, t.Actions, (*StoredAction).Is) {
		if last > 0 {
			c.revised = append(c.revised, t)
		}
		return false
	}
	c.traces++
	for _, s := range standing {
		row := t.goneRow(s)
		c.actions.add(row, last+1, true)
		row.Lists(func(l *table.ListedAction) { c.after.add(l, last+1, true) })
	}
	table.NumberActions(t.Actions, free)
	for _, a := range t.Actions {
		c.actions.add(a, last+2, false)
		a.Lists(func(l *table.ListedAction) { c.before.add(l, last+2, false) })
	}
	return true
}

// listKey is the key of a row of actions_by_list.
type listKey [4]uint64

func keyOf(l *table.ListedAction) listKey { return listKey(table.ActionsByList.Words(l)[:4]) }

// goneRow is the row of an action that is none any more. It has the key of the stored
// one.
func (t *Trace) goneRow(s *StoredAction) *table.ActionRow {
	return &table.ActionRow{Action: s.Action, Step: t.step, Number: s.Number}
}

// checkLists finds what an earlier run has left of lists: it was cut off behind the
// actions.
func (r *run) checkLists(ctx context.Context, c *changes) error {
	for some := range slices.Chunk(c.revised, 100) {
		wanted := map[listKey]*listed{}
		for _, t := range some {
			made := t.Actions // one for each that is not gone
			for _, s := range t.Stored {
				var row *table.ActionRow
				if s.Gone {
					row = t.goneRow(s)
				} else {
					row, made = made[0], made[1:]
				}
				row.Lists(func(l *table.ListedAction) { wanted[keyOf(l)] = &listed{row: l, gone: s.Gone, revision: s.Revision} })
			}
		}
		if err := r.readLists(ctx, wanted); err != nil {
			return err
		}
		for _, w := range wanted {
			if w.stands() {
				continue
			}
			c.after.add(w.row, max(w.revision, w.have+1), w.gone)
		}
	}
	return nil
}

// listed is a row of actions_by_list as it is to be, and as it is.
type listed struct {
	row      *table.ListedAction
	gone     bool
	revision uint32

	found    bool
	have     uint32 // revision
	haveGone bool
	columns  uint64
}

// stands reports whether the table has it as it is to be.
func (l *listed) stands() bool {
	if l.gone {
		return !l.found || l.haveGone
	}
	return l.found && !l.haveGone && l.columns == table.ActionsByList.Hash(l.row)
}

// readLists reads the rows that some keys have.
func (r *run) readLists(ctx context.Context, wanted map[listKey]*listed) error {
	if len(wanted) == 0 {
		return nil
	}
	var tuples []string
	for key := range wanted {
		tuples = append(tuples, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(key)), ","), "[]"))
	}
	slices.Sort(tuples)
	for some := range slices.Chunk(tuples, maxNamed) {
		var key listKey
		var columns uint64
		var number, revision uint32
		var gone uint8
		query := fmt.Sprintf("SELECT %[1]s, %[2]s, revision, gone FROM actions_by_list WHERE (%[1]s) IN ((%[3]s)) SETTINGS optimize_use_projections = 0",
			table.ActionsByList.KeySQL(), table.ActionsByList.HashSQL(), strings.Join(some, "),("))
		err := r.reader.each(ctx, query, nil, func() error {
			key[3] = uint64(number)
			if w := wanted[key]; w != nil && (!w.found || revision > w.have) {
				w.found, w.have, w.haveGone, w.columns = true, revision, gone == 1, columns
			}
			return nil
		}, &key[0], &key[1], &key[2], &number, &columns, &revision, &gone)
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) insertActions(ctx context.Context, c *changes) error {
	return insert(ctx, r.Tables, table.Actions, &c.actions)
}

func (r *run) insertLists(ctx context.Context, list rows[*table.ListedAction]) error {
	return insert(ctx, r.Tables, table.ActionsByList, &list)
}

// insert writes rows as one block.
func insert[R any](ctx context.Context, client *clickhouse.Client, of *table.Of[R], list *rows[R]) error {
	if len(list.list) == 0 {
		return nil
	}
	b := table.NewRows(of)
	for _, row := range list.list {
		b.Add(row)
	}
	var columns []clickhouse.Column
	for _, v := range b.Values() {
		columns = append(columns, clickhouse.Column{Name: v.Column, Values: v.Slice})
	}
	columns = append(columns, clickhouse.Column{Name: "revision", Values: list.revisions}, clickhouse.Column{Name: "gone", Values: list.gone})
	return client.Insert(ctx, clickhouse.Insert{Table: of.Name, Token: fmt.Sprintf("reclassify-%d", time.Now().UnixNano()), Columns: columns})
}

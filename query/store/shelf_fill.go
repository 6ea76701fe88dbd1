package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/query/sql"
)

// errFull ends filling.
var errFull = errors.New("no more is held")

const (
	// leastRow is what a row takes at least.
	leastRow = 100
	// fillRows is about how many rows one statement of fill reads: what the server
	// can hold of an answer.
	fillRows = 20_000
)

// fill reads the table, as far as there is room, unless it is too large for that
// to be of use. Requests go on meanwhile, and bundles.
func (h *shelf[R]) fill(ctx context.Context, s *Store, v *View) error {
	if h.most == 0 {
		return nil
	}
	rows, err := s.rowsOf(ctx, h.table, "count()")
	if err != nil || rows > uint64(h.most/leastRow) {
		return err
	}
	if err := h.learn(ctx, s, v); err != nil {
		return err
	}
	h.mutex.Lock()
	h.changed = map[sql.AccountKey]struct{}{}
	h.mutex.Unlock()
	defer func() {
		h.mutex.Lock()
		defer h.mutex.Unlock()
		h.changed = nil
		h.tell(s)
	}()
	step := ^uint64(0) / (rows/fillRows + 8)
	for first := uint64(0); ; first += step + 1 {
		last := first + min(step, ^uint64(0)-first)
		err := h.fillRange(ctx, s, first, last)
		if errors.Is(err, errFull) {
			return nil
		}
		if err != nil || last == ^uint64(0) {
			return err
		}
	}
}

// fillRange reads the accounts whose first 64 bits lie in a range.
func (h *shelf[R]) fillRange(ctx context.Context, s *Store, first, last uint64) error {
	var workchain proto.ColInt32
	var prefix, version proto.ColUInt64
	var column proto.ColStr
	result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}, {Name: "v", Data: &version}, {Name: "record", Data: &column}}
	statement := fmt.Sprintf("SELECT workchain, account_prefix, toUInt64(%s) AS v, record FROM %s WHERE account_prefix BETWEEN %d AND %d ORDER BY workchain, account_prefix",
		h.version, h.table, first, last)
	filler := shelfFiller[R]{shelf: h, entries: map[sql.AccountKey][]byte{}}
	err := s.reader.Run(ctx, h.table, statement, result, func(n int) error {
		for i := range n {
			if err := filler.add(sql.AccountKey{Workchain: workchain[i], Prefix: prefix[i]}, version[i], column.RowBytes(i)); err != nil {
				return err
			}
		}
		return filler.give()
	})
	if err == nil {
		if err = filler.flush(); err == nil {
			err = filler.give()
		}
	}
	return err
}

// shelfFiller puts the rows of a place together, which come one after the other.
type shelfFiller[R shelved] struct {
	shelf   *shelf[R]
	place   sql.AccountKey
	rows    []shelfRow[R] // of the place, without their records
	entries map[sql.AccountKey][]byte
}

func (f *shelfFiller[R]) add(at sql.AccountKey, version uint64, raw []byte) error {
	if at != f.place {
		if err := f.flush(); err != nil {
			return err
		}
		f.place = at
	}
	f.rows = append(f.rows, shelfRow[R]{version: version, raw: slices.Clone(raw)})
	return nil
}

// flush makes an entry of the place.
func (f *shelfFiller[R]) flush() error {
	if len(f.rows) > 1 {
		for i := range f.rows {
			var err error
			if f.rows[i].record, err = f.shelf.unpack(f.rows[i].raw); err != nil {
				return err
			}
		}
		f.rows = newestRows(f.rows)
	}
	var entry []byte
	for _, row := range f.rows {
		entry = appendRecord(entry, row.raw)
	}
	if f.rows = f.rows[:0]; entry != nil {
		f.entries[f.place] = entry
	}
	return nil
}

// give puts the entries onto the shelf, but for those that have changed since.
func (f *shelfFiller[R]) give() error {
	h := f.shelf
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for at, entry := range f.entries {
		if h.changed == nil || h.full() {
			return errFull
		}
		if _, changed := h.changed[at]; !changed {
			h.put(at, entry)
		}
	}
	clear(f.entries)
	return nil
}

package cache

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
	// minRow is what a row takes at least.
	minRow = 100
	// fillRows is about how many rows one statement of fill reads: what the server
	// can hold of an answer.
	fillRows = 20_000
)

// Fill reads the table, as far as there is room, unless it is too large for that
// to be of use. Requests go on meanwhile, and bundles.
func (h *Rows[R]) Fill(ctx context.Context, watermark uint32) error {
	if h.max == 0 {
		return nil
	}
	rows, err := h.reader.Number(ctx, "directory", "SELECT count() AS n FROM "+h.table)
	if err != nil || rows > uint64(h.max/minRow) {
		return err
	}
	if err := h.Advance(ctx, watermark); err != nil {
		return err
	}
	h.mutex.Lock()
	h.changed = map[sql.AccountKey]struct{}{}
	h.mutex.Unlock()
	defer func() {
		h.mutex.Lock()
		defer h.mutex.Unlock()
		h.changed = nil
		h.report()
	}()
	step := ^uint64(0) / (rows/fillRows + 8)
	for first := uint64(0); ; first += step + 1 {
		last := first + min(step, ^uint64(0)-first)
		err := h.fillRange(ctx, first, last)
		if errors.Is(err, errFull) {
			return nil
		}
		if err != nil || last == ^uint64(0) {
			return err
		}
	}
}

// fillRange reads the accounts whose first 64 bits lie in a range.
func (h *Rows[R]) fillRange(ctx context.Context, first, last uint64) error {
	var workchain proto.ColInt32
	var prefix, version proto.ColUInt64
	var column proto.ColStr
	result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}, {Name: "v", Data: &version}, {Name: "record", Data: &column}}
	statement := fmt.Sprintf("SELECT workchain, account_prefix, toUInt64(%s) AS v, record FROM %s WHERE account_prefix BETWEEN %d AND %d ORDER BY workchain, account_prefix",
		h.version, h.table, first, last)
	entries := filler[R]{cache: h, entries: map[sql.AccountKey][]byte{}}
	err := h.reader.Run(ctx, h.table, statement, result, func(n int) error {
		for i := range n {
			if err := entries.add(sql.AccountKey{Workchain: workchain[i], Prefix: prefix[i]}, version[i], column.RowBytes(i)); err != nil {
				return err
			}
		}
		return entries.give()
	})
	if err == nil {
		if err = entries.flush(); err == nil {
			err = entries.give()
		}
	}
	return err
}

// filler puts the rows of a key together, which come one after the other.
type filler[R Record] struct {
	cache   *Rows[R]
	key     sql.AccountKey
	rows    []row[R] // of the key, without their records
	entries map[sql.AccountKey][]byte
}

func (f *filler[R]) add(at sql.AccountKey, version uint64, raw []byte) error {
	if at != f.key {
		if err := f.flush(); err != nil {
			return err
		}
		f.key = at
	}
	f.rows = append(f.rows, row[R]{version: version, raw: slices.Clone(raw)})
	return nil
}

// flush makes an entry of the key.
func (f *filler[R]) flush() error {
	if len(f.rows) > 1 {
		for i := range f.rows {
			var err error
			if f.rows[i].record, err = f.cache.unpack(f.rows[i].raw); err != nil {
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
		f.entries[f.key] = entry
	}
	return nil
}

// give puts the entries into the cache, but for those that have changed since.
func (f *filler[R]) give() error {
	h := f.cache
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

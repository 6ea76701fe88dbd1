// Package cache holds rows in memory that are asked for again.
//
// In: keys, and a view that says how new the answer has to be. Out: what the newest
// rows of their table say, out of memory or read. A bundle takes away what it
// changes. The package must never write.
package cache

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/ton/address"
)

// Rows holds the newest rows of a table of accounts in memory, by the key of
// the account: all of them when they fit, otherwise those that were asked for
// last. A bundle takes away what it changes.
type Rows[R Record] struct {
	reader *reader.Reader
	bytes  prometheus.Gauge
	// table has the columns workchain, account_prefix, mc_seqno and record; of the
	// rows of an account the one with the greatest version counts.
	table, version string
	create         func() R
	// max is how many bytes may be held, about; 0 holds nothing.
	max int

	turn       sync.Mutex // of those who bring it to a watermark
	mutex      sync.RWMutex
	young, old segment
	upTo       uint32 // the bundle; 0 before the first
	reread     uint32 // the bundle of the last second reading
	// changed is what bundles have changed while the table is read; nil when it is
	// not, or when that is of no use any more.
	changed map[sql.AccountKey]struct{}
}

// Record is a record of an account.
type Record interface {
	UnmarshalVT([]byte) error
	GetAccount() []byte
}

// NewRows makes a cache of a table of accounts, of whose rows the one with the greatest
// version counts. It holds about limit bytes; 0 holds nothing.
func NewRows[R Record](r *reader.Reader, table, version string, limit int, bytes prometheus.Gauge, create func() R) *Rows[R] {
	return &Rows[R]{reader: r, table: table, version: version, max: limit, bytes: bytes, create: create}
}

const (
	// maxTaken is how many entries are taken away one by one.
	maxTaken = 200_000
	// rereadAfter is after how many bundles the changes of twice as many are read
	// again: a replica that was behind may not have had them.
	rereadAfter = 64
)

// appendRecord adds a record to those of a key.
func appendRecord(records, record []byte) []byte {
	return append(binary.AppendUvarint(records, uint64(len(record))), record...)
}

// put needs the mutex. What does not fit is not held.
func (h *Rows[R]) put(at sql.AccountKey, records []byte) {
	if len(records) > min(h.max/8, arenaBytes-entryHeader) {
		return
	}
	if h.young.put(at, records) == nil && h.young.bytes >= h.max/2 {
		h.old.release()
		h.old, h.young = h.young, segment{}
	}
}

// report needs the mutex.
func (h *Rows[R]) report() { h.bytes.Set(float64(h.young.bytes + h.old.bytes)) }

// full reports whether a segment goes before long. It needs the mutex.
func (h *Rows[R]) full() bool { return h.young.bytes+h.old.bytes > h.max*7/8 }

// Release gives the memory back.
func (h *Rows[R]) Release() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.young.release()
	h.old.release()
	h.upTo = 0
}

// Advance takes away what bundles up to a watermark have changed.
func (h *Rows[R]) Advance(ctx context.Context, watermark uint32) error {
	if h.max == 0 || h.holdsUpTo() >= watermark {
		return nil
	}
	h.turn.Lock()
	defer h.turn.Unlock()
	upTo := h.holdsUpTo()
	if upTo >= watermark {
		return nil
	}
	after, again := upTo, watermark-h.reread >= rereadAfter
	if again {
		after -= min(after, 2*rereadAfter)
	}
	var changed []sql.AccountKey
	if upTo > 0 {
		var err error
		statement := fmt.Sprintf("SELECT workchain, account_prefix FROM %s WHERE mc_seqno > %d LIMIT %d", h.table, after, maxTaken)
		if changed, err = accountKeys(ctx, h.reader, statement); err != nil {
			return err
		}
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(changed) == maxTaken {
		h.young.release()
		h.old.release()
		h.changed = nil
	}
	for i := range changed {
		at := changed[i]
		h.young.remove(at)
		h.old.remove(at)
		if h.changed != nil {
			h.changed[at] = struct{}{}
		}
	}
	h.upTo = watermark
	if again {
		h.reread = watermark
	}
	return nil
}

func (h *Rows[R]) holdsUpTo() uint32 {
	h.mutex.RLock()
	defer h.mutex.RUnlock()
	return h.upTo
}

// take gives the records of those of the keys that are held, the other keys,
// and the bundle up to which that is right.
func (h *Rows[R]) take(list []sql.AccountKey) (records []byte, missing []sql.AccountKey, upTo uint32) {
	var old []sql.AccountKey
	h.mutex.RLock()
	for _, at := range list {
		entry, ok := h.young.get(at)
		if !ok {
			if entry, ok = h.old.get(at); ok {
				old = append(old, at)
			}
		}
		if ok {
			records = append(records, entry...)
		} else {
			missing = append(missing, at)
		}
	}
	upTo = h.upTo
	renew := len(old) > 0 && h.full()
	h.mutex.RUnlock()
	if renew {
		h.renew(old)
	}
	return records, missing, upTo
}

// renew holds what is old for longer.
func (h *Rows[R]) renew(list []sql.AccountKey) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, at := range list {
		if records, still := h.old.get(at); still {
			records = slices.Clone(records) // the segment may go
			h.old.remove(at)
			h.put(at, records)
		}
	}
}

// keep holds what was read, unless more has become visible since.
func (h *Rows[R]) keep(entries map[sql.AccountKey][]byte, upTo uint32) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.upTo != upTo || upTo == 0 {
		return
	}
	defer h.report()
	for at, records := range entries {
		if _, there := h.young.get(at); !there {
			h.put(at, records)
		}
	}
}

// At are the newest records of the accounts with some keys, as new as a watermark,
// which is 0 before there is one.
func (h *Rows[R]) At(ctx context.Context, watermark uint32, list []sql.AccountKey) ([]R, error) {
	list = slices.SortedFunc(slices.Values(list), sql.AccountKey.Compare)
	list = slices.Compact(list)
	var held []byte
	var upTo uint32
	if h.max > 0 && watermark > 0 {
		if err := h.Advance(ctx, watermark); err != nil {
			return nil, err
		}
		held, list, upTo = h.take(list)
	}
	var records []R
	for len(held) > 0 {
		size, n := binary.Uvarint(held)
		r, err := h.unpack(held[n : n+int(size)])
		if err != nil {
			return nil, err
		}
		records, held = append(records, r), held[n+int(size):]
	}
	if len(list) == 0 {
		return records, nil
	}
	rows, err := reader.Gather(ctx, reader.Chunks(list, h.reader.Splits(len(list)/2), sql.AccountKey.Compare), func(ctx context.Context, part []sql.AccountKey) ([]row[R], error) {
		return h.read(ctx, part)
	})
	if err != nil {
		return nil, err
	}
	rows = newestRows(rows)
	if upTo > 0 {
		fresh := map[sql.AccountKey][]byte{}
		for _, row := range rows {
			at := sql.KeyOf(row.record.GetAccount())
			fresh[at] = appendRecord(fresh[at], row.raw)
		}
		h.keep(fresh, upTo)
	}
	for _, row := range rows {
		records = append(records, row.record)
	}
	return records, nil
}

// row is a row of the table.
type row[R Record] struct {
	record  R
	version uint64
	raw     []byte
}

// newestRows are the newest ones of each account: a row may be there several
// times, and others may share the first 64 bits of an account.
func newestRows[R Record](rows []row[R]) []row[R] {
	newest := make(map[address.Address]int, len(rows))
	kept := rows[:0]
	for _, row := range rows {
		a := address.Address(row.record.GetAccount())
		if n, there := newest[a]; !there {
			newest[a] = len(kept)
			kept = append(kept, row)
		} else if row.version >= kept[n].version {
			kept[n] = row
		}
	}
	return kept
}

func (h *Rows[R]) unpack(raw []byte) (R, error) {
	r := h.create()
	if err := r.UnmarshalVT(raw); err != nil {
		return r, fmt.Errorf("record of %s: %w", h.table, err)
	}
	if len(r.GetAccount()) != schema.AddressSize {
		return r, fmt.Errorf("record of %s: account of %d bytes", h.table, len(r.GetAccount()))
	}
	return r, nil
}

// read reads the rows with some keys.
func (h *Rows[R]) read(ctx context.Context, list []sql.AccountKey) (rows []row[R], err error) {
	var column proto.ColStr
	var version proto.ColUInt64
	statement := fmt.Sprintf("SELECT record, toUInt64(%s) AS v FROM %s WHERE %s", h.version, h.table, sql.AmongAccounts(sql.Account, list))
	err = h.reader.Run(ctx, h.table, statement, proto.Results{{Name: "record", Data: &column}, {Name: "v", Data: &version}}, func(n int) error {
		for i := range n {
			raw := column.RowBytes(i)
			r, err := h.unpack(raw)
			if err != nil {
				return err
			}
			if h.max > 0 {
				raw = slices.Clone(raw)
			}
			rows = append(rows, row[R]{r, version[i], raw})
		}
		return nil
	})
	return rows, err
}

// accountKeys runs a statement that selects keys of accounts.
func accountKeys(ctx context.Context, r *reader.Reader, statement string) (keys []sql.AccountKey, err error) {
	var workchain proto.ColInt32
	var prefix proto.ColUInt64
	result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}}
	err = r.Run(ctx, "contract keys", statement, result, func(rows int) error {
		for i := range rows {
			keys = append(keys, sql.AccountKey{Workchain: workchain[i], Prefix: prefix[i]})
		}
		return nil
	})
	return keys, err
}

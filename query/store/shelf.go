package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/schema"

	"tonscribe/query/reader"
	"tonscribe/query/sql"
)

// shelf holds the newest rows of a table of accounts in memory, by the place of
// the account: all of them when they fit, otherwise those that were asked for
// last. A bundle takes away what it changes.
type shelf[R shelved] struct {
	// table has the columns workchain, account_prefix, mc_seqno and record; of the
	// rows of an account the one with the greatest version counts.
	table, version string
	make           func() R
	// most is how many bytes may be held, about; 0 holds nothing.
	most int

	turn       sync.Mutex // of those who bring it to a watermark
	mutex      sync.RWMutex
	young, old generation
	upTo       uint32 // the bundle; 0 before the first
	looked     uint32 // the bundle of the last second look
	// changed is what bundles have changed while the table is read; nil when it is
	// not, or when that is of no use any more.
	changed map[sql.AccountKey]struct{}
}

// shelved is a record that a shelf can hold.
type shelved interface {
	UnmarshalVT([]byte) error
	GetAccount() []byte
}

const (
	// mostTaken is how many entries are taken away one by one.
	mostTaken = 200_000
	// lookAgain is after how many bundles the changes of twice as many are read
	// again: a replica that was behind may not have had them.
	lookAgain = 64
)

// appendRecord adds a record to those of a sql.AccountKey.
func appendRecord(records, record []byte) []byte {
	return append(binary.AppendUvarint(records, uint64(len(record))), record...)
}

// put needs the mutex. What does not fit is not held.
func (h *shelf[R]) put(at sql.AccountKey, records []byte) {
	if len(records) > min(h.most/8, slabBytes-shelfHeader) {
		return
	}
	if h.young.put(at, records) == nil && h.young.bytes >= h.most/2 {
		h.old.release()
		h.old, h.young = h.young, generation{}
	}
}

// tell needs the mutex.
func (h *shelf[R]) tell(s *Store) {
	s.metrics.held.WithLabelValues(h.table).Set(float64(h.young.bytes + h.old.bytes))
}

// full says that a generation goes before long. It needs the mutex.
func (h *shelf[R]) full() bool { return h.young.bytes+h.old.bytes > h.most*7/8 }

func (h *shelf[R]) release() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.young.release()
	h.old.release()
	h.upTo = 0
}

// learn takes away what bundles up to the view have changed.
func (h *shelf[R]) learn(ctx context.Context, s *Store, v *View) error {
	if h.most == 0 || h.holdsUpTo() >= v.Watermark {
		return nil
	}
	h.turn.Lock()
	defer h.turn.Unlock()
	upTo := h.holdsUpTo()
	if upTo >= v.Watermark {
		return nil
	}
	after, again := upTo, v.Watermark-h.looked >= lookAgain
	if again {
		after -= min(after, 2*lookAgain)
	}
	var changed []sql.AccountKey
	if upTo > 0 {
		var err error
		statement := fmt.Sprintf("SELECT workchain, account_prefix FROM %s WHERE mc_seqno > %d LIMIT %d", h.table, after, mostTaken)
		if changed, err = accountKeys(ctx, s.reader, statement); err != nil {
			return err
		}
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(changed) == mostTaken {
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
	h.upTo = v.Watermark
	if again {
		h.looked = v.Watermark
	}
	return nil
}

func (h *shelf[R]) holdsUpTo() uint32 {
	h.mutex.RLock()
	defer h.mutex.RUnlock()
	return h.upTo
}

// take gives the records at those of the places that are held, the other places,
// and the bundle up to which that is right.
func (h *shelf[R]) take(list []sql.AccountKey) (records []byte, missing []sql.AccountKey, upTo uint32) {
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
func (h *shelf[R]) renew(list []sql.AccountKey) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, at := range list {
		if records, still := h.old.get(at); still {
			records = slices.Clone(records) // the generation may go
			h.old.remove(at)
			h.put(at, records)
		}
	}
}

// keep holds what was read, unless more has become visible since.
func (h *shelf[R]) keep(s *Store, entries map[sql.AccountKey][]byte, upTo uint32) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.upTo != upTo || upTo == 0 {
		return
	}
	defer h.tell(s)
	for at, records := range entries {
		if _, there := h.young.get(at); !there {
			h.put(at, records)
		}
	}
}

// at are the newest records of the accounts at some places.
func (h *shelf[R]) at(ctx context.Context, s *Store, list []sql.AccountKey) ([]R, error) {
	list = slices.SortedFunc(slices.Values(list), sql.AccountKey.Compare)
	list = slices.Compact(list)
	var held []byte
	var upTo uint32
	if v := s.view.Load(); h.most > 0 && v != nil {
		if err := h.learn(ctx, s, v); err != nil {
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
	rows, err := reader.Gather(ctx, reader.Chunks(list, s.reader.Splits(len(list)/2), sql.AccountKey.Compare), func(ctx context.Context, part []sql.AccountKey) ([]shelfRow[R], error) {
		return h.read(ctx, s, part)
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
		h.keep(s, fresh, upTo)
	}
	for _, row := range rows {
		records = append(records, row.record)
	}
	return records, nil
}

// shelfRow is a row of the table.
type shelfRow[R shelved] struct {
	record  R
	version uint64
	raw     []byte
}

// newestRows are the newest ones of each account: a row may be there several
// times, and others may share the first 64 bits of an account.
func newestRows[R shelved](rows []shelfRow[R]) []shelfRow[R] {
	newest := make(map[Address]int, len(rows))
	kept := rows[:0]
	for _, row := range rows {
		a := Address(row.record.GetAccount())
		if n, there := newest[a]; !there {
			newest[a] = len(kept)
			kept = append(kept, row)
		} else if row.version >= kept[n].version {
			kept[n] = row
		}
	}
	return kept
}

func (h *shelf[R]) unpack(raw []byte) (R, error) {
	r := h.make()
	if err := r.UnmarshalVT(raw); err != nil {
		return r, fmt.Errorf("record of %s: %w", h.table, err)
	}
	if len(r.GetAccount()) != schema.AddressSize {
		return r, fmt.Errorf("record of %s: account of %d bytes", h.table, len(r.GetAccount()))
	}
	return r, nil
}

// read reads the rows at some places.
func (h *shelf[R]) read(ctx context.Context, s *Store, list []sql.AccountKey) (rows []shelfRow[R], err error) {
	var column proto.ColStr
	var version proto.ColUInt64
	statement := fmt.Sprintf("SELECT record, toUInt64(%s) AS v FROM %s WHERE %s", h.version, h.table, sql.AmongAccounts(sql.Account, list))
	err = s.reader.Run(ctx, h.table, statement, proto.Results{{Name: "record", Data: &column}, {Name: "v", Data: &version}}, func(n int) error {
		for i := range n {
			raw := column.RowBytes(i)
			r, err := h.unpack(raw)
			if err != nil {
				return err
			}
			if h.most > 0 {
				raw = slices.Clone(raw)
			}
			rows = append(rows, shelfRow[R]{r, version[i], raw})
		}
		return nil
	})
	return rows, err
}

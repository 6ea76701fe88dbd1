package metadata

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"tonscribe/internal/clickhouse"
)

// fetch is how the fetching of a link stands: a row of metadata_fetches.
type fetch struct {
	hash     hash
	queue    uint16
	link     string
	tried    uint64 // ms, 0 for not yet
	failure  string
	attempts uint32
	due      uint32
	had      bool // the table metadata has a document
}

// Read returns links of a host that are due, the newest first. It reads on, in
// larger steps, where the keys are those that later tries have left.
func (w *work) Read(ctx context.Context, queue uint16, limit int) (items []*item, again time.Time, err error) {
	h, until := w.host(queue), now()
	if h.due <= until {
		h.ranges = append(h.ranges, dueRange{after: h.read, before: dueKey{due: until + 1}})
		h.read = until
		if h.due, err = w.nextDue(ctx, h); err != nil {
			return nil, again, err
		}
	}
	keys := limit
	for n := 0; n < maxReads && len(items) == 0 && len(h.ranges) > 0; n++ {
		if items, err = w.readOn(ctx, h, keys, until); err != nil {
			return nil, again, err
		}
		keys = min(4*keys, max(maxKeys, limit))
	}
	switch {
	case len(h.ranges) > 0:
		again = time.Now()
	case h.due < Never:
		again = timeOf(h.due)
	}
	return items, again, nil
}

// Bounds of what Read reads at once.
const (
	maxReads = 8
	maxKeys  = 500
)

// readOn reads the links of the last keys of the host's newest range.
func (w *work) readOn(ctx context.Context, h *host, limit int, until uint32) ([]*item, error) {
	list, err := w.newest(ctx, h, limit)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	known, err := w.known(ctx, list)
	if err != nil {
		return nil, err
	}
	var items []*item
	for _, key := range list {
		if f, is := known[key]; is && f.due <= until {
			items = append(items, &item{Destination: h.number, Key: f.hash, Size: len(f.link), Value: outcome{fetch: f}})
			delete(known, key)
		}
	}
	return items, nil
}

// newest reads the last keys of the host's newest range.
func (w *work) newest(ctx context.Context, h *host, limit int) (list []hash, err error) {
	r := &h.ranges[len(h.ranges)-1]
	var key string
	err = clickhouse.Each(ctx, w.tables.Conn(), `SELECT due, toString(hash) FROM metadata_fetches
		WHERE lane = ? AND due > ? AND due <= ? AND (due < ? OR hash < unhex(?)) ORDER BY lane DESC, due DESC, hash DESC LIMIT ?`,
		[]any{h.number, r.after, r.before.due, r.before.due, hex.EncodeToString(r.before.hash[:]), limit}, func() {
			r.before.hash = hash{} // the text lacks zeros at its end
			copy(r.before.hash[:], key)
			list = append(list, r.before.hash)
		}, &r.before.due, &key)
	if err == nil && len(list) < limit {
		h.ranges = h.ranges[:len(h.ranges)-1]
	}
	return list, err
}

// nextDue is when the host's next link is due after all that was read; a row that
// a newer one has replaced may make it earlier.
func (w *work) nextDue(ctx context.Context, h *host) (due uint32, err error) {
	due = Never
	err = clickhouse.Each(ctx, w.tables.Conn(), "SELECT due FROM metadata_fetches WHERE lane = ? AND due > ? AND due < ? ORDER BY lane, due, hash LIMIT 1",
		[]any{h.number, h.read, Never}, func() {}, &due)
	return due, err
}

// restore tells the queue of all links that will be due one day. It reads one
// column of the whole table.
func (w *work) restore(ctx context.Context) error {
	var queue uint16
	var due uint32
	return clickhouse.Each(ctx, w.tables.Conn(), "SELECT lane, min(due) FROM metadata_fetches WHERE due < ? GROUP BY lane", []any{Never},
		func() { w.wake(queue, due) }, &queue, &due)
}

// wake tells the queue when a link of a host is due.
func (w *work) wake(number uint16, due uint32) {
	if h := w.host(number); due < h.due {
		h.due = due
		w.queue.Wake(number, timeOf(due))
	}
}

// known reads how the fetching of some links stands. Links that are not known
// are not there.
func (w *work) known(ctx context.Context, list []hash) (map[hash]fetch, error) {
	found := make(map[hash]fetch, len(list))
	var f fetch
	var key string
	err := clickhouse.Each(ctx, w.tables.Conn(), "SELECT toString(hash), lane, link, tried, attempts, due, had FROM metadata_fetches WHERE "+among(list), nil, func() {
		f.hash = hash{}
		copy(f.hash[:], key)
		if old, there := found[f.hash]; !there || f.tried >= old.tried {
			found[f.hash] = f
		}
	}, &key, &f.queue, &f.link, &f.tried, &f.attempts, &f.due, &f.had)
	return found, err
}

// among is the condition that the hash is one of some: literals, because a
// thousand calls of unhex take longer than the answer.
func among(list []hash) string {
	var b strings.Builder
	for i := range list {
		b.WriteString(",'")
		for _, c := range list[i] {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
		b.WriteByte('\'')
	}
	return "hash IN (" + strings.TrimPrefix(b.String(), ",") + ")"
}

// writeFetches writes how links stand, and tells when they are due.
func (w *work) writeFetches(ctx context.Context, list []fetch) error {
	err := w.tables.Insert(ctx, clickhouse.Insert{Table: "metadata_fetches", Token: w.token(), Columns: []clickhouse.Column{
		clickhouse.ColumnOf("hash", list, func(f *fetch) []byte { return f.hash[:] }),
		clickhouse.ColumnOf("lane", list, func(f *fetch) uint16 { return f.queue }),
		clickhouse.ColumnOf("link", list, func(f *fetch) string { return f.link }),
		clickhouse.ColumnOf("tried", list, func(f *fetch) uint64 { return f.tried }),
		clickhouse.ColumnOf("failure", list, func(f *fetch) string { return f.failure }),
		clickhouse.ColumnOf("attempts", list, func(f *fetch) uint32 { return f.attempts }),
		clickhouse.ColumnOf("due", list, func(f *fetch) uint32 { return f.due }),
		clickhouse.ColumnOf("had", list, func(f *fetch) bool { return f.had }),
	}})
	if err != nil {
		return err
	}
	for _, f := range list {
		w.wake(f.queue, f.due)
	}
	return nil
}

// row is one of the table metadata.
type row struct {
	hash              hash
	link              string
	fetched           uint64
	failure, document string
}

func (w *work) writeDocuments(ctx context.Context, list []row) error {
	if len(list) == 0 {
		return nil
	}
	return w.tables.Insert(ctx, clickhouse.Insert{Table: "metadata", Token: w.token(), Columns: []clickhouse.Column{
		clickhouse.ColumnOf("hash", list, func(r *row) []byte { return r.hash[:] }),
		clickhouse.ColumnOf("link", list, func(r *row) string { return r.link }),
		clickhouse.ColumnOf("fetched", list, func(r *row) uint64 { return r.fetched }),
		clickhouse.ColumnOf("failure", list, func(r *row) string { return r.failure }),
		clickhouse.ColumnOf("document", list, func(r *row) string { return r.document }),
	}})
}

// token is that of an insert, of which there is no second one.
func (w *work) token() string {
	w.inserts++
	return fmt.Sprintf("%s/%d/%d", w.name, w.begun, w.inserts)
}

// now is the time as due times have it, in seconds.
func now() uint32 { return uint32(time.Now().Unix()) }

func timeOf(seconds uint32) time.Time { return time.Unix(int64(seconds), 0) }

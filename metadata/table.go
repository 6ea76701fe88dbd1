package metadata

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"tonscribe/internal/clickhouse"
)

// fetch is how the fetching of a link stands: a row of metadata_fetches.
type fetch struct {
	hash     hash
	lane     uint16
	link     string
	tried    uint64 // ms, 0 for not yet
	failure  string
	attempts uint32
	due      uint32
	had      bool // the table metadata has a document
}

// stand reads how the fetching of some links stands. Links that are not known
// are not there.
func (w *work) stand(ctx context.Context, list []hash) (map[hash]fetch, error) {
	rows, err := w.tables.Conn().Query(ctx, "SELECT toString(hash), lane, link, tried, attempts, due, had FROM metadata_fetches WHERE "+among(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[hash]fetch, len(list))
	for rows.Next() {
		var f fetch
		var key string
		if err := rows.Scan(&key, &f.lane, &f.link, &f.tried, &f.attempts, &f.due, &f.had); err != nil {
			return nil, err
		}
		copy(f.hash[:], key)
		if old, there := found[f.hash]; !there || f.tried >= old.tried {
			found[f.hash] = f
		}
	}
	return found, rows.Err()
}

// wakes makes the lanes of all links that will be due one day. It reads one
// column of the whole table.
func (w *work) wakes(ctx context.Context) error {
	rows, err := w.tables.Conn().Query(ctx, "SELECT lane, min(due) FROM metadata_fetches WHERE due < ? GROUP BY lane", Never)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var number uint16
		var due uint32
		if err := rows.Scan(&number, &due); err != nil {
			return err
		}
		w.lane(number).wake = due
	}
	return rows.Err()
}

// nextWake is when the lane's next link is due after all that was read; a row
// that a newer one has replaced may make it earlier.
func (w *work) nextWake(ctx context.Context, l *lane) error {
	rows, err := w.tables.Conn().Query(ctx, "SELECT due FROM metadata_fetches WHERE lane = ? AND due > ? AND due < ? ORDER BY lane, due, hash LIMIT 1", l.number, l.read, Never)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var due uint32
		if err := rows.Scan(&due); err != nil {
			return err
		}
		l.wake = min(l.wake, due)
	}
	return rows.Err()
}

// newest reads the last places of the lane's newest stretch.
func (w *work) newest(ctx context.Context, l *lane, most int) (places []place, err error) {
	s := &l.stretches[len(l.stretches)-1]
	rows, err := w.tables.Conn().Query(ctx, `SELECT due, toString(hash) FROM metadata_fetches
		WHERE lane = ? AND due > ? AND due <= ? AND (due < ? OR hash < unhex(?)) ORDER BY lane DESC, due DESC, hash DESC LIMIT ?`,
		l.number, s.after, s.before.due, s.before.due, hex.EncodeToString(s.before.hash[:]), most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p place
		var key string
		if err := rows.Scan(&p.due, &key); err != nil {
			return nil, err
		}
		copy(p.hash[:], key)
		places = append(places, p)
	}
	if len(places) < most {
		l.stretches = l.stretches[:len(l.stretches)-1]
	} else {
		s.before = places[len(places)-1]
	}
	return places, rows.Err()
}

// fill reads what is due in the lane, at most that many links.
func (w *work) fill(ctx context.Context, l *lane, most int) error {
	now := seconds(time.Now())
	if l.wake <= now {
		l.ripen(now)
		if err := w.nextWake(ctx, l); err != nil {
			return err
		}
	}
	for n := 0; n < mostReads && len(l.jobs) == 0 && len(l.stretches) > 0; n++ {
		if err := w.readOn(ctx, l, most, now); err != nil {
			return err
		}
		most = min(4*most, mostPlaces)
	}
	return nil
}

// A lane is read on, in larger steps, where its places are those that later
// tries have left.
const (
	mostReads  = 8
	mostPlaces = 500
)

func (w *work) readOn(ctx context.Context, l *lane, most int, now uint32) error {
	places, err := w.newest(ctx, l, most)
	if err != nil || len(places) == 0 {
		return err
	}
	list := make([]hash, len(places))
	for i, p := range places {
		list[i] = p.hash
	}
	standing, err := w.stand(ctx, list)
	if err != nil {
		return err
	}
	for _, h := range list {
		f, there := standing[h]
		if _, held := w.held[h]; there && !held && f.due <= now {
			w.held[h] = struct{}{}
			l.jobs = append(l.jobs, f)
		}
	}
	return nil
}

// writeFetches writes how links stand, and lets their lanes know when they are
// due.
func (w *work) writeFetches(ctx context.Context, list []fetch) error {
	n := len(list)
	hashes, lanes, links, tried := make([][]byte, n), make([]uint16, n), make([]string, n), make([]uint64, n)
	failures, attempts, due, had := make([]string, n), make([]uint32, n), make([]uint32, n), make([]bool, n)
	for i := range list {
		f := &list[i]
		hashes[i], lanes[i], links[i], tried[i] = f.hash[:], f.lane, f.link, f.tried
		failures[i], attempts[i], due[i], had[i] = f.failure, f.attempts, f.due, f.had
	}
	err := w.tables.Insert(ctx, clickhouse.Insert{Table: "metadata_fetches", Token: w.token(), Columns: []clickhouse.Column{
		{Name: "hash", Values: hashes}, {Name: "lane", Values: lanes}, {Name: "link", Values: links}, {Name: "tried", Values: tried},
		{Name: "failure", Values: failures}, {Name: "attempts", Values: attempts}, {Name: "due", Values: due}, {Name: "had", Values: had},
	}})
	if err != nil {
		return err
	}
	for i := range list {
		l := w.lane(list[i].lane)
		l.wake = min(l.wake, list[i].due)
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
	n := len(list)
	if n == 0 {
		return nil
	}
	hashes, links, fetched := make([][]byte, n), make([]string, n), make([]uint64, n)
	failures, documents := make([]string, n), make([]string, n)
	for i := range list {
		r := &list[i]
		hashes[i], links[i], fetched[i], failures[i], documents[i] = r.hash[:], r.link, r.fetched, r.failure, r.document
	}
	return w.tables.Insert(ctx, clickhouse.Insert{Table: "metadata", Token: w.token(), Columns: []clickhouse.Column{
		{Name: "hash", Values: hashes}, {Name: "link", Values: links}, {Name: "fetched", Values: fetched},
		{Name: "failure", Values: failures}, {Name: "document", Values: documents},
	}})
}

// token is that of an insert, of which there is no second one.
func (w *work) token() string {
	w.inserts++
	return fmt.Sprintf("%s/%d/%d", w.name, w.begun, w.inserts)
}

package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"tonscribe/internal/clickhouse"
)

// Session is a browser that a merchant has signed in with.
type Session struct {
	Hash             Hash // of the cookie
	Merchant         ID
	Created, Expires time.Time

	ended   bool
	changed uint64
}

// MaxSessions of a merchant are open at a time: a further one ends the oldest.
const MaxSessions = 20

// Sessions is the table of sessions.
type Sessions struct {
	*Store
	held  *clickhouse.Followed[Hash, Session] // those that have not ended
	turns turns
}

func newSessions(s *Store) *Sessions {
	t := &Sessions{Store: s}
	t.held = follow(s, "merchant_sessions", func(ctx context.Context, _ map[Hash]Session) (map[Hash]Session, error) { return t.read(ctx, "") })
	return t
}

// read gives the sessions that have not ended.
func (t *Sessions) read(ctx context.Context, where string) (map[Hash]Session, error) {
	all := map[Hash]Session{}
	var row Session
	var hash, merchant string
	err := t.each(ctx, "SELECT hash, merchant, created, expires, ended, changed FROM merchant_sessions "+where, func() {
		row.Hash, row.Merchant = Hash([]byte(hash)), ID([]byte(merchant))
		if known, ok := all[row.Hash]; !ok || row.changed > known.changed {
			all[row.Hash] = row
		}
	}, &hash, &merchant, &row.Created, &row.Expires, &row.ended, &row.changed)
	now := t.now()
	maps.DeleteFunc(all, func(_ Hash, one Session) bool { return one.ended || !now.Before(one.Expires) })
	return all, err
}

// Open begins a session of a merchant and returns its cookie. It holds here when Open
// returns.
func (t *Sessions) Open(ctx context.Context, merchant ID) (cookie string, s Session, err error) {
	if cookie, s, err = t.begin(ctx, merchant); err == nil {
		err = t.refresh(ctx)
	}
	return cookie, s, err
}

// begin writes the row of a further session, and those of the sessions that it ends. Two at
// a time on one replica wait for each other.
func (t *Sessions) begin(ctx context.Context, merchant ID) (cookie string, s Session, err error) {
	defer t.turns.take(merchant)()
	open, err := t.read(ctx, "WHERE merchant = "+unhex(merchant[:]))
	if err != nil {
		return "", s, err
	}
	rows := slices.SortedFunc(maps.Values(open), func(a, b Session) int {
		return cmp.Or(b.Created.Compare(a.Created), slices.Compare(a.Hash[:], b.Hash[:]))
	})
	rows = rows[min(len(rows), MaxSessions-1):]
	for i := range rows {
		rows[i].ended = true
	}
	cookie, hash := newSecret("")
	now := t.now()
	s = Session{Hash: hash, Merchant: merchant, Created: now, Expires: now.Add(t.configuration.Session)}
	rows = append(rows, s)
	err = t.write(ctx, rows)
	return cookie, rows[len(rows)-1], err
}

// put writes rows anew; they hold here when it returns.
func (t *Sessions) put(ctx context.Context, rows []Session) error {
	if err := t.write(ctx, rows); err != nil {
		return err
	}
	return t.refresh(ctx)
}

// refresh returns when what is held is as the table has it.
func (t *Sessions) refresh(ctx context.Context) error {
	if !t.held.Known() {
		return nil
	}
	return t.held.Refresh(ctx)
}

func (t *Sessions) write(ctx context.Context, rows []Session) error {
	for i := range rows {
		rows[i].changed = t.after(rows[i].changed)
	}
	return t.insert(ctx, "merchant_sessions",
		clickhouse.ColumnOf("hash", rows, func(one *Session) []byte { return one.Hash[:] }),
		clickhouse.ColumnOf("merchant", rows, func(one *Session) []byte { return one.Merchant[:] }),
		clickhouse.ColumnOf("created", rows, func(one *Session) time.Time { return one.Created }),
		clickhouse.ColumnOf("expires", rows, func(one *Session) time.Time { return one.Expires }),
		clickhouse.ColumnOf("ended", rows, func(one *Session) bool { return one.ended }),
		clickhouse.ColumnOf("changed", rows, func(one *Session) uint64 { return one.changed }),
	)
}

// Get returns the session of a cookie.
func (t *Sessions) Get(ctx context.Context, cookie string) (Session, error) {
	s, err := found(t.held.Get(ctx, HashOf(cookie)))
	if err == nil && !t.now().Before(s.Expires) {
		return Session{}, ErrNotFound
	}
	return s, err
}

// End ends a session.
func (t *Sessions) End(ctx context.Context, s Session) error {
	s.ended = true
	return t.put(ctx, []Session{s})
}

// EndAll ends all sessions of a merchant.
func (t *Sessions) EndAll(ctx context.Context, merchant ID) error {
	open, err := t.read(ctx, "WHERE merchant = "+unhex(merchant[:]))
	if err != nil || len(open) == 0 {
		return err
	}
	rows := slices.Collect(maps.Values(open))
	for i := range rows {
		rows[i].ended = true
	}
	return t.put(ctx, rows)
}

package clickhouse

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// A server writes that it knows a token before it has the rows. One that is killed between
// the two refuses these rows for ever, without a word. So what a token is known by names the
// life of the server as well, from its start to its end, and an insert counts only if the
// server that took it still lives: what another one was told comes once more, which
// ReplacingMergeTree settles. A server that fails between the two and lives on refuses the rows,
// too, so that those of an insert that failed come once more with a token that nobody knows.
// Keeper learns of token and rows at once: its tokens hold for ever. Shards without it do not
// tell of their lives, and have a new token for each try.

// lives tells the lives of a server apart.
type lives struct {
	statement atomic.Pointer[string] // how to ask for it
	newest    atomic.Pointer[life]   // nil: not known
	dials     atomic.Int64
}

// life is what is different in every life, empty if the server does not tell. A connection
// ends with it, so that it goes on while nobody dials.
type life struct {
	name  string
	dials int64
}

// dial counts connections once they are made: one that took long may be to a later life than
// the one that was asked for meanwhile.
func (c *Client) dial(ctx context.Context, address string) (net.Conn, error) {
	defer c.lives.dials.Add(1)
	dialer := &net.Dialer{Timeout: c.options.DialTimeout}
	if c.options.TLS != nil {
		return (&tls.Dialer{NetDialer: dialer, Config: c.options.TLS}).DialContext(ctx, "tcp", address)
	}
	return dialer.DialContext(ctx, "tcp", address)
}

// goesOn reports whether no server can have been started since a life was asked for. Over
// HTTP, connections may be those of a proxy.
func (c *Client) goesOn(l *life) bool {
	return c.options.Protocol == driver.Native && l.dials == c.lives.dials.Load()
}

const (
	keeper     = "keeper" // the one life of servers with it
	withKeeper = "SELECT '" + keeper + "'"
	ofShards   = "SELECT ''"
	// A start makes these tables anew, and their database too if no file has it.
	ofTable    = newest + "system.tables WHERE database = 'system' AND name = 'one'"
	ofDatabase = newest + "system.databases WHERE name = 'system'"
	newest     = "SELECT if(any(uuid) = toUUIDOrZero(''), '', toString(any(uuid))) FROM "
)

// askLife asks a server for its life.
func (c *Client) askLife(ctx context.Context) (*life, error) {
	now := &life{dials: c.lives.dials.Load()}
	statement := c.lives.statement.Load()
	if statement == nil {
		statement = new(string)
		err := c.conn.QueryRow(ctx, `SELECT multiIf(countIf(name = currentDatabase() AND engine = 'Replicated') > 0, $1,
			(SELECT count() FROM system.tables WHERE database = currentDatabase() AND engine = 'Distributed') > 0, $2,
			countIf(name = 'system' AND engine = 'Memory') > 0, $3, $4) FROM system.databases`, withKeeper, ofShards, ofDatabase, ofTable).Scan(statement)
		if err != nil {
			return nil, err
		}
		c.lives.statement.Store(statement)
	}
	if err := c.conn.QueryRow(ctx, *statement).Scan(&now.name); err != nil {
		return nil, err
	}
	c.lives.newest.Store(now)
	return now, nil
}

// tries are those of one insert.
type tries struct {
	token  string
	last   string // what it was known by in the last one
	insert func(token string) error
}

// do makes one. What failed before may be known without its rows: then it is made twice.
func (t *tries) do(token string) error {
	again := t.last == token
	t.last = token
	if err := t.insert(token); err != nil || !again {
		return err
	}
	return t.insert(rand.Text())
}

var errOtherLife = errors.New("the server was started again while it took the rows")

// insertInLife does an insert with a token that is good for the life in which the rows came:
// where that ended meanwhile, the next try is for the new one.
func (c *Client) insertInLife(ctx context.Context, t *tries) (err error) {
	known := c.lives.newest.Load()
	if known == nil {
		if known, err = c.askLife(ctx); err != nil {
			return err
		}
	}
	do := t.do
	switch known.name {
	case "":
		return t.insert(rand.Text())
	case keeper:
		do = t.insert
	}
	if err := do(known.name + "/" + t.token); err != nil {
		c.lives.newest.Store(nil) // its server may have been killed
		return err
	}
	if c.goesOn(known) {
		return nil
	}
	now, err := c.askLife(ctx)
	if err == nil && now.name != known.name {
		err = errOtherLife
	}
	return err
}

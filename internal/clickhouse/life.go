package clickhouse

import (
	"context"
	"crypto/rand"
	"sync/atomic"
)

// A server writes that it knows a token before it has the rows. One that is killed between
// the two refuses these rows for ever, without a word. So what a token is known by names the
// life of the server as well, from its start to its end, and an insert counts only if the
// server that took it still lives: what another one was told comes once more, which
// ReplacingMergeTree settles. Keeper learns of token and rows at once: its tokens hold for
// ever. Shards without it do not tell of their lives, and have a new token for each try.

// lives tells the lives of a server apart.
type lives struct {
	statement atomic.Pointer[string] // how to ask for it
	newest    atomic.Pointer[string] // nil: not known
}

const (
	withKeeper = "SELECT 'keeper'"
	ofShards   = "SELECT ''"
	// A start makes these tables anew, and their database too if no file has it.
	ofTable    = newest + "system.tables WHERE database = 'system' AND name = 'one'"
	ofDatabase = newest + "system.databases WHERE name = 'system'"
	newest     = "SELECT if(any(uuid) = toUUIDOrZero(''), '', toString(any(uuid))) FROM "
)

// ask returns what is different in every life, and empty if the server does not tell.
func (l *lives) ask(ctx context.Context, c *Client) (life string, err error) {
	statement := l.statement.Load()
	if statement == nil {
		statement = new(string)
		err := c.conn.QueryRow(ctx, `SELECT multiIf(countIf(name = currentDatabase() AND engine = 'Replicated') > 0, $1,
			(SELECT count() FROM system.tables WHERE database = currentDatabase() AND engine = 'Distributed') > 0, $2,
			countIf(name = 'system' AND engine = 'Memory') > 0, $3, $4) FROM system.databases`, withKeeper, ofShards, ofDatabase, ofTable).Scan(statement)
		if err != nil {
			return "", err
		}
		l.statement.Store(statement)
	}
	return life, c.conn.QueryRow(ctx, *statement).Scan(&life)
}

// insertInLife does an insert with a token that is good for the life in which the rows came.
func (c *Client) insertInLife(ctx context.Context, token string, insert func(token string) error) error {
	life := c.lives.newest.Load()
	for {
		if life == nil {
			now, err := c.lives.ask(ctx, c)
			if err != nil {
				return err
			}
			life = &now
		}
		if *life == "" {
			return insert(rand.Text())
		}
		if err := insert(*life + "/" + token); err != nil {
			c.lives.newest.Store(nil) // its server may have been killed
			return err
		}
		now, err := c.lives.ask(ctx, c)
		if err != nil {
			return err
		}
		c.lives.newest.Store(&now)
		if now == *life {
			return nil
		}
		life = &now
	}
}

// Package store keeps merchants: who they are, their keys and sessions, where their
// webhooks go and what signs them, what they have registered, and what was done in
// their name.
//
// In: what `tonscribe merchants` and the merchants' API change. Out: the same to these,
// to whoever matches transactions (payments) and to whoever sends (endpoints). All of it
// lies in ClickHouse; what every request needs is held in memory and followed. Rows are
// never changed, but written again with a greater changed.
//
// The package must never write a key, a token or a cookie, only their SHA-256, nor a
// secret that is not sealed.
package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/report"
)

// ID names a merchant: 16 random bytes, lower-case hex in texts.
type ID = [16]byte

// Hash is 256 bits.
type Hash = [32]byte

// Errors of looking something up.
var (
	ErrNotFound = errors.New("there is no such thing")
	// ErrNotRead says that the tables cannot be read for now.
	ErrNotRead = errors.New("the tables of merchants were not read yet")
	// ErrNoTable says that the database is older than the program.
	ErrNoTable = errors.New("the database has no tables of merchants: run `tonscribe migrate up`")
)

// Dependencies of a Store. The tables must exist.
type Dependencies struct {
	Report report.Reporter
	// ClickHouse reads and writes the tables.
	ClickHouse *clickhouse.Client
	// Now is the present, time.Now when nil.
	Now func() time.Time
}

// Store is all of the tables. What is looked up in memory needs Start; what is listed and
// written does not. A stopped store does not start again; it does not end by itself.
type Store struct {
	*lifetime.Run
	Merchants *Merchants
	Keys      *Keys
	Endpoints *Endpoints
	Sessions  *Sessions
	Payments  *Payments
	Audit     *Audit

	configuration Configuration
	report        report.Reporter
	client        *clickhouse.Client
	now           func() time.Time
	sealer        *sealer
	tasks         []func(context.Context)

	warning sync.Mutex
	warned  time.Time // of tables that cannot be read
}

// New makes a store without connecting to anything.
func New(configuration Configuration, dependencies Dependencies) (*Store, error) {
	if err := configuration.validate(); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	sealer, err := newSealer(configuration.SealKey)
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	s := &Store{
		Run: lifetime.NewRun(), configuration: configuration, report: dependencies.Report, client: dependencies.ClickHouse, now: dependencies.Now, sealer: sealer,
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.Merchants, s.Keys, s.Endpoints, s.Sessions = newMerchants(s), newKeys(s), newEndpoints(s), newSessions(s)
	s.Payments, s.Audit = newPayments(s), &Audit{s}
	return s, nil
}

// Start begins to follow the tables.
func (s *Store) Start(context.Context) error {
	s.Run.Start(func(ctx context.Context) error {
		var running sync.WaitGroup
		for _, task := range s.tasks {
			running.Go(func() { task(ctx) })
		}
		running.Wait()
		return nil
	})
	return nil
}

// Ready is nil when the tables were read.
func (s *Store) Ready(context.Context) error {
	if !s.Merchants.held.Known() || !s.Keys.held.Known() || !s.Endpoints.held.Known() || !s.Sessions.held.Known() {
		return ErrNotRead
	}
	return nil
}

// follow holds what read makes of a table and of what was held of it before.
func follow[K comparable, V any](s *Store, table string, read func(ctx context.Context, old map[K]V) (map[K]V, error)) *clickhouse.Followed[K, V] {
	f := clickhouse.NewFollowed(clickhouse.FollowedOptions[K, V]{
		Mark: func(ctx context.Context) (m clickhouse.Mark, err error) {
			err = s.client.Conn().QueryRow(ctx, "SELECT count(), sum(changed) FROM "+table).Scan(&m.Rows, &m.Changed)
			return m, named(err)
		},
		Read: read, Every: s.configuration.Refresh, Failed: s.notRead,
	})
	s.tasks = append(s.tasks, f.Run)
	return f
}

// notRead reports tables that could not be read, now and then.
func (s *Store) notRead(err error) {
	s.warning.Lock()
	defer s.warning.Unlock()
	if time.Since(s.warned) > 10*time.Second {
		s.warned = time.Now()
		s.report.Log.Warn().Err(err).Msg("the tables of merchants could not be read; trying again")
	}
}

// found makes the error of a look-up in memory one of this package.
func found[V any](value V, err error) (V, error) {
	switch {
	case errors.Is(err, clickhouse.ErrNoRow):
		err = ErrNotFound
	case errors.Is(err, clickhouse.ErrNotRead):
		err = ErrNotRead
	}
	return value, err
}

func named(err error) error {
	if clickhouse.IsCode(err, proto.ErrUnknownTable) {
		return ErrNoTable
	}
	return err
}

// insert writes rows of which each is written anew each time.
func (s *Store) insert(ctx context.Context, table string, columns ...clickhouse.Column) error {
	var token [16]byte
	_, _ = rand.Read(token[:]) // never fails
	return named(s.client.Insert(ctx, clickhouse.Insert{Table: table, Token: hex.EncodeToString(token[:]), Columns: columns}))
}

// each calls take with every row of a statement, whose columns are scanned.
func (s *Store) each(ctx context.Context, statement string, take func(), columns ...any) error {
	return named(clickhouse.Each(ctx, s.client.Conn(), statement, nil, take, columns...))
}

// after is the changed of a row that follows another one.
func (s *Store) after(changed uint64) uint64 {
	return max(uint64(s.now().UnixMicro()), changed+1)
}

// turns let one at a time change what a merchant has of a table, on this replica.
type turns struct{ of sync.Map } // ID: *sync.Mutex

// take waits for the turn of a merchant, which ends with the function that is returned.
func (t *turns) take(merchant ID) (end func()) {
	lock, _ := t.of.LoadOrStore(merchant, &sync.Mutex{})
	lock.(*sync.Mutex).Lock()
	return lock.(*sync.Mutex).Unlock
}

// newSecret is a text of a kind with 256 random bits, and the SHA-256 of it.
func newSecret(prefix string) (text string, hash Hash) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails: it ends the process instead
	text = prefix + hex.EncodeToString(random[:])
	return text, HashOf(text)
}

// HashOf is what the tables have of a key, a token or a cookie: of 256 random bits
// nothing slower is needed.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// unhex is a constant of a statement.
func unhex(b []byte) string { return "unhex('" + hex.EncodeToString(b) + "')" }

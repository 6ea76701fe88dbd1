package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// clock is a present that a test sets.
type clock struct {
	mutex sync.Mutex
	time  time.Time
}

func (c *clock) now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.time
}

func (c *clock) pass(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.time = c.time.Add(d)
}

// world is a database with a store on it, whose clock the test sets.
type world struct {
	testing.TB
	*Store
	clock  *clock
	client *clickhouse.Client
}

func newWorld(t testing.TB) *world {
	t.Helper()
	engine := enginetest.Tables(t, "merchants", "merchant_audit", "merchant_endpoints", "merchant_keys", "merchant_sessions", "payments")
	client := clienttest.ClickHouse(t, engine.DSN())
	w := &world{TB: t, clock: &clock{time: time.Now().UTC().Truncate(time.Microsecond)}, client: client}
	w.Store = w.open(NewSealKey())
	return w
}

// open is another store on the same tables, with a seal key.
func (w *world) open(sealKey string) *Store {
	w.Helper()
	c := DefaultConfiguration()
	c.SealKey = sealKey
	s, err := New(c, Dependencies{Report: enginetest.Report(w), ClickHouse: w.client, Now: w.clock.now})
	if err != nil {
		w.Fatal(err)
	}
	w.must(s.Start(w.Context()))
	w.Cleanup(func() { w.must(s.Stop(context.Background())) })
	return s
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// merchant is a new one, and its token.
func (w *world) merchant(name string) (Merchant, string) {
	w.Helper()
	m, token := NewMerchant(name)
	w.must(w.Merchants.Put(w.Context(), m))
	return m, token
}

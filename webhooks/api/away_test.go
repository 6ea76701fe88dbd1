package api

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/google/uuid"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
	"tonscribe/webhooks/store"
)

// door leads to a server until it is shut.
type door struct {
	net.Listener
	mutex  sync.Mutex
	passed []net.Conn
}

func newDoor(t testing.TB, to string) *door {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{Listener: l}
	t.Cleanup(d.shut)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			d.mutex.Lock()
			d.passed = append(d.passed, in, out)
			d.mutex.Unlock()
			go func() { _, _ = io.Copy(in, out); in.Close() }()
			go func() { _, _ = io.Copy(out, in); out.Close() }()
		}
	}()
	return d
}

func (d *door) shut() {
	d.Close()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, c := range d.passed {
		c.Close()
	}
}

func TestWhileTheTablesAreAwayRequestsAreUnavailable(t *testing.T) {
	w := newWorld(t)
	s, other := w.newShop("shop"), w.newShop("other")
	to, err := url.Parse(w.dsn)
	w.must(err)
	d := newDoor(t, to.Host)
	to.Host = d.Addr().String()
	configuration := clickhouse.DefaultConfiguration()
	configuration.DSN = to.String()
	client, err := clickhouse.New(configuration, clickhouse.Dependencies{Report: report.Silent()})
	w.must(err)
	t.Cleanup(func() { client.Close() })
	c := store.DefaultConfiguration()
	c.SealKey = store.NewSealKey()
	before := w.store
	w.store, err = store.New(c, store.Dependencies{Report: report.Silent(), ClickHouse: client})
	w.must(err)
	w.must(w.store.Start(t.Context()))
	t.Cleanup(func() {
		w.must(w.store.Stop(context.Background()))
		w.store = before
	})
	w.open()
	w.ok(s.asks(http.MethodGet, "/transfers", nil))
	w.ok(other.asks(http.MethodGet, "/transfer?reference="+other.reference, nil))
	d.shut()
	for _, r := range []request{
		s.asks(http.MethodGet, "/transfers", nil), s.asks(http.MethodGet, "/keys", nil), s.asks(http.MethodGet, "/audit", nil),
		// What another merchant has asked for is held in memory, and takes the way of what is nobody's.
		s.asks(http.MethodGet, "/transfer?reference="+other.reference, nil), s.asks(http.MethodGet, "/transfer?reference="+uuid.NewString(), nil),
		s.asks(http.MethodPost, "/create-transfer", map[string]any{"amount": 1, "asset": "TON", "senderAddr": accountOf(1).String()}),
	} {
		w.refused(r.path, r, http.StatusServiceUnavailable, "unavailable")
	}
}

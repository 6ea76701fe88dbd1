package api

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"tonscribe/internal/report"
	"tonscribe/test/support/clienttest"
	"tonscribe/webhooks/store"
)

func TestWhileTheTablesAreAwayRequestsAreUnavailable(t *testing.T) {
	w := newWorld(t)
	s, other := w.newShop("shop"), w.newShop("other")
	through, shut := clienttest.Door(t, w.dsn)
	client := clienttest.ClickHouse(t, through)
	c := store.DefaultConfiguration()
	c.SealKey = store.NewSealKey()
	before := w.store
	var err error
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
	shut()
	for _, r := range []request{
		s.asks(http.MethodGet, "/transfers", nil), s.asks(http.MethodGet, "/keys", nil), s.asks(http.MethodGet, "/audit", nil),
		// What another merchant has asked for is held in memory, and takes the way of what is nobody's.
		s.asks(http.MethodGet, "/transfer?reference="+other.reference, nil), s.asks(http.MethodGet, "/transfer?reference="+uuid.NewString(), nil),
		s.asks(http.MethodPost, "/create-transfer", map[string]any{"amount": 1, "asset": "TON", "senderAddr": accountOf(1).String()}),
	} {
		w.refused(r.path, r, http.StatusServiceUnavailable, "unavailable")
	}
}

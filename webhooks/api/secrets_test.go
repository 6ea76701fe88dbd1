package api

import (
	"context"
	"net/http"
	"testing"

	"tonscribe/internal/report"
	"tonscribe/webhooks/signature"
	"tonscribe/webhooks/store"
)

// Who has started a replica without the key, or with another one, is told so by the status:
// nothing says that there is no secret.
func TestWhatConcernsSecretsWaitsForTheRightSealKey(t *testing.T) {
	w := newWorld(t)
	s, whole := w.newShop("shop"), w.store
	for name, key := range map[string]string{"no key": "", "another key": store.NewSealKey()} {
		c := store.DefaultConfiguration()
		c.SealKey = key
		opened, err := store.New(c, store.Dependencies{Report: report.Silent(), ClickHouse: w.client, Now: w.clock.now})
		w.must(err)
		w.must(opened.Start(t.Context()))
		w.store = opened
		w.open()
		for path, body := range map[string]map[string]any{
			"/webhook/secret/reveal": {}, "/webhook/secret/rotate": {}, "/verify": {"body": "{}", "header": "sha256=00"},
		} {
			w.refused(name, s.asks(http.MethodPost, path, body), http.StatusServiceUnavailable, "not_configured")
		}
		w.refused(name, s.asks(http.MethodPut, "/webhook", map[string]any{"url": "https://two.example"}), http.StatusServiceUnavailable, "not_configured")
		if got := w.ok(s.asks(http.MethodGet, "/webhook", nil)); got["url"] == "" {
			t.Errorf("%s: the webhook is %v", name, got)
		}
		if got := w.ok(s.asks(http.MethodPost, "/verify", map[string]any{"body": "{}", "header": signature.Sign([]byte("{}"), "of mine"), "secret": "of mine"})); got["valid"] != true {
			t.Errorf("%s: by a secret of the request: %v", name, got)
		}
		w.store = whole
		w.must(opened.Stop(context.Background()))
	}
}

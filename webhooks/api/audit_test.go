package api

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWhatClientsThatHaveGoneHaveChangedIsInTheAudit(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	key := w.ok(s.clicks(http.MethodPost, "/keys", map[string]any{"name": "till", "scopes": []string{"transfers"}}))["id"].(string)
	event := "/deliveries/" + hex.EncodeToString(s.event[:])
	day := map[string]any{"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"}
	want := []string{"signed_in", "key_made"}
	for _, c := range []struct {
		method, path string
		body         any
		noted        string
	}{
		{http.MethodPut, "/webhook", map[string]any{"url": "https://1.1.1.1/"}, "webhook_changed"},
		{http.MethodPost, "/webhook/secret/rotate", nil, "secret_rotated"},
		{http.MethodPost, "/webhook/secret/reveal", nil, "secret_revealed"},
		{http.MethodPost, "/webhook/secret/switch", nil, "secret_switched"},
		{http.MethodPost, "/webhook/secret/undo", nil, "secret_undone"},
		{http.MethodPost, "/webhook/test", nil, "test_sent"},
		{http.MethodPost, event + "/redeliver", nil, "redelivered"},
		{http.MethodPost, "/deliveries/replay", day, "replay_started"},
		{http.MethodDelete, "/replays/" + hex.EncodeToString(s.replay[:]), nil, "replay_cancelled"},
		{http.MethodPost, "/keys", map[string]any{"name": "x", "scopes": []string{"transfers"}}, "key_made"},
		{http.MethodDelete, "/keys/" + key, nil, "key_revoked"},
		{http.MethodDelete, "/session", nil, "signed_out"},
	} {
		r := s.clicks(c.method, c.path, c.body)
		r.gone = true
		w.ok(r)
		want = append(want, c.noted)
	}
	var noted []string
	for _, row := range w.ok(s.asks(http.MethodGet, "/audit", nil))["audit"].([]any) {
		noted = append(noted, row.(map[string]any)["what"].(string))
	}
	if slices.Reverse(noted); !slices.Equal(noted, want) {
		t.Errorf("the audit is %v, want %v", noted, want)
	}
}

func TestTheAuditIsReadAPageAtATime(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	for range 6 {
		w.clock.pass(time.Second)
		w.ok(s.asks(http.MethodPost, "/webhook/secret/reveal", nil))
	}
	var at []string
	for cursor, pages := "", 0; ; pages++ {
		page := w.ok(s.asks(http.MethodGet, "/audit?limit=2&cursor="+cursor, nil))
		for _, row := range page["audit"].([]any) {
			at = append(at, row.(map[string]any)["at"].(string))
		}
		next, more := page["nextCursor"].(string)
		if cursor = next; !more || pages > 10 {
			break
		}
	}
	if !slices.IsSortedFunc(at, func(a, b string) int { return strings.Compare(b, a) }) || len(slices.Compact(at)) != 7 {
		t.Errorf("%v, want 7 entries, the newest first", at)
	}
}

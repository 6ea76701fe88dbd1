package api

import (
	"context"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"tonscribe/webhooks/store"
)

func TestASearchOfDeliveriesIsHandedOnAsItWasMeant(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	hash := store.Hash{1, 2, 3}
	query := "state=exhausted&reference=test_" + s.reference + "&txHash=" + hex.EncodeToString(hash[:]) + "&traceId=" + base64.URLEncoding.EncodeToString(hash[:]) + "&event=evt_" + hex.EncodeToString(s.event[:]) +
		"&bodyHash=" + base64.StdEncoding.EncodeToString(hash[:]) + "&code=503&class=status&from=2024-01-15T14:30:00Z&to=2024-01-16T14:30:00.5%2B02:00&test=false&limit=7&cursor=abc"
	w.ok(s.asks(http.MethodGet, "/deliveries?"+query, nil))
	got := w.deliveries.search
	if got.State != "exhausted" || got.Class != "status" || got.Code != 503 || got.Limit != 7 || got.Cursor != "abc" || *got.Event != s.event || *got.TxHash != hash || *got.TraceID != hash || *got.BodyHash != hash ||
		*got.Test || !got.From.Equal(time.Date(2024, 1, 15, 14, 30, 0, 0, time.UTC)) || !got.To.Equal(time.Date(2024, 1, 16, 12, 30, 0, 5e8, time.UTC)) || got.Reference == nil {
		t.Errorf("%+v", got)
	}
	w.ok(s.asks(http.MethodGet, "/deliveries?state=&cursor=", nil))
	if got := w.deliveries.search; got.State != "" || got.Limit != 50 || got.Event != nil || got.Test != nil || !got.From.IsZero() {
		t.Errorf("without conditions: %+v", got)
	}
	w.refused("a wrong cursor", s.asks(http.MethodGet, "/deliveries?cursor=wrong", nil), http.StatusBadRequest, "bad_cursor")
	unanswered := store.ID{1}
	w.deliveries.of[s.ID][unanswered] = Delivery{Event: unanswered, State: "pending", Happened: time.Now()}
	answer := w.send(s.clicks(http.MethodGet, "/deliveries.csv?state=delivered", nil))
	rows, err := csv.NewReader(answer.Body).ReadAll()
	codes := map[string]string{}
	for _, row := range rows {
		codes[row[0]] = row[9]
	}
	if want := map[string]string{"event": "lastCode", hex.EncodeToString(s.event[:]): "200", hex.EncodeToString(unanswered[:]): ""}; err != nil || !maps.Equal(codes, want) || answer.Header().Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Errorf("the table: %d %v %v", answer.Code, rows, err)
	}
}

// slowLog lets searches wait.
type slowLog struct {
	*sent
	asked, let chan struct{}
}

func (s slowLog) Search(ctx context.Context, merchant store.ID, search Search) ([]Delivery, string, error) {
	s.asked <- struct{}{}
	<-s.let
	return s.sent.Search(ctx, merchant, search)
}

func TestAMerchantHasOneTableWrittenAtATime(t *testing.T) {
	w := newWorld(t)
	s, other := w.newShop("shop"), w.newShop("other")
	slow := slowLog{w.deliveries, make(chan struct{}, 10), make(chan struct{})}
	w.api.deliveries = slow
	export := func(s *shop) request { return s.asks(http.MethodGet, "/deliveries.csv", nil) }
	var first, others sync.WaitGroup
	first.Go(func() {
		if answer := w.send(export(s)); answer.Code != http.StatusOK {
			t.Errorf("the first: %d %s, want 200", answer.Code, answer.Body)
		}
	})
	<-slow.asked
	let := sync.OnceFunc(func() { close(slow.let) })
	time.AfterFunc(time.Minute, let) // a second one that is not refused waits for it
	w.refused("a second one meanwhile", export(s), http.StatusTooManyRequests, "busy")
	others.Go(func() {
		if answer := w.send(export(other)); answer.Code != http.StatusOK {
			t.Errorf("another merchant's: %d %s, want 200", answer.Code, answer.Body)
		}
	})
	<-slow.asked
	let()
	first.Wait()
	others.Wait()
	if answer := w.send(export(s)); answer.Code != http.StatusOK {
		t.Errorf("after the first: %d %s, want 200", answer.Code, answer.Body)
	}
}

func TestAnAttemptIsShownWithAllThatIsKnownOfIt(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	got := w.ok(s.clicks(http.MethodGet, "/deliveries/"+hex.EncodeToString(s.event[:]), nil))
	attempt := got["attempts"].([]any)[0].(map[string]any)
	if got["body"] != `{"event":"transfer.completed"}` || attempt["totalMs"] != json.Number("1.5") || attempt["dnsMs"] != nil || attempt["responseBody"] != "base64:b2v/" ||
		fmt.Sprint(attempt["responseHeaders"]) != "map[Via:[a b]]" || fmt.Sprint(attempt["requestHeaders"]) != "map[X-Pay-Signature:sha256=…]" {
		t.Errorf("%v", got)
	}
	w.deliveries.refuse = fmt.Errorf("%w: there is no URL", ErrRefused)
	w.refused("what the sender refuses", s.clicks(http.MethodPost, "/deliveries/"+hex.EncodeToString(s.event[:])+"/redeliver", nil), http.StatusConflict, "refused")
	w.deliveries.refuse = ErrBusy
	w.refused("too much at once", s.clicks(http.MethodPost, "/webhook/test", map[string]any{}), http.StatusTooManyRequests, "busy")
}

func TestAReplayNeedsARangeThatEnds(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	within := func(from, to string, more ...any) map[string]any {
		body := map[string]any{"from": from, "to": to}
		for i := 0; i < len(more); i += 2 {
			body[more[i].(string)] = more[i+1]
		}
		return body
	}
	dry := w.ok(s.clicks(http.MethodPost, "/deliveries/replay", within("2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z", "state", "exhausted", "dryRun", true)))
	if dry["id"] != nil || dry["count"] != json.Number("1") {
		t.Errorf("a dry run: %v", dry)
	}
	started := w.ok(s.clicks(http.MethodPost, "/deliveries/replay", within("2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z")))
	path := "/replays/" + started["id"].(string)
	if got := w.ok(s.clicks(http.MethodGet, path, nil)); got["state"] != "running" {
		t.Errorf("the replay is %v", got)
	}
	if got := w.ok(s.clicks(http.MethodDelete, path, nil)); got["state"] != "cancelled" {
		t.Errorf("the replay is %v", got)
	}
	for _, bad := range []map[string]any{
		within("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"), within("2024-02-01T00:00:00Z", "2024-01-01T00:00:00Z"), within("2020-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
		within("x", "2024-01-01T00:00:00Z"), within("2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z", "state", "pending"), within("2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z", "dryRun", "yes"), {},
	} {
		if answer := w.send(s.clicks(http.MethodPost, "/deliveries/replay", bad)); answer.Code != http.StatusBadRequest {
			t.Errorf("%v: %d %s, want 400", bad, answer.Code, answer.Body)
		}
	}
}

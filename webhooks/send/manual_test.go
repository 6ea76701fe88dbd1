package send

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tonscribe/schema/record"
	"tonscribe/test/support/costtest"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/signature"
)

func TestHealthTellsOfAnEndpointThatIsDown(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, _ int) { w.WriteHeader(http.StatusBadGateway) })
	h.at.set(named("m"), toURL(s.URL))
	h.start(nil)
	var events []*record.TransferEvent
	for i := range openAfter {
		e := transfer("m", fmt.Sprint(i), fmt.Sprint(i))
		e.Happened = uint64(time.Now().Unix())
		events = append(events, e)
	}
	h.publish(events...)
	for i := range openAfter {
		h.await("m", fmt.Sprint(i), func(d *Delivery) bool { return d.Attempts > 0 })
	}
	health, err := NewLog(h.configuration(nil), h.tables).Health(t.Context(), named("m"))
	if err != nil || !health.Open || health.Queued != openAfter || health.OldestUndelivered <= 0 || !health.LastSuccess.IsZero() {
		t.Errorf("health is %+v, %v, want an open breaker and %d that wait", health, err, openAfter)
	}
}

func TestADeliveryIsMadeAgainByHandWhateverItsState(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	var down atomic.Bool
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	off := toURL(s.URL)
	off.Enabled = false
	h.at.set(named("m"), toURL(s.URL))
	h.at.set(named("off"), off)
	h.start(nil)
	m := h.manual()
	h.publish(transfer("m", "taken", "1"), transfer("off", "kept", "2"))
	h.await("m", "taken", hasState(Delivered))
	h.await("off", "kept", hasState(Ignored))
	again := func(merchant, name string, number int, class Class, state State) {
		t.Helper()
		a, err := m.Redeliver(t.Context(), named(merchant), named("event "+name))
		if err != nil || a.Kind != KindManual || a.Number != number || a.Class != class {
			t.Errorf("%s: number %d, class %q, %v, want %d, %q", name, a.Number, a.Class, err, number, class)
		}
		d, attempts := h.await(merchant, name, func(*Delivery) bool { return true })
		if d.State != state || len(attempts) != number {
			t.Errorf("%s: state %s with %d attempts, want %s with %d", name, d.State, len(attempts), state, number)
		}
	}
	again("m", "taken", 2, "", Delivered)
	down.Store(true)
	again("m", "taken", 3, ClassStatus, Delivered)
	requests := s.of("taken")
	if len(requests) != 3 || !bytes.Equal(requests[0].body, requests[2].body) || requests[2].header.Get(HeaderAttempt) != "3" {
		t.Errorf("%d requests, the last one with %v", len(requests), requests[2].header)
	}
	if _, err := m.Redeliver(t.Context(), named("off"), named("event kept")); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), ReasonDisabled) {
		t.Errorf("to a disabled endpoint: %v, want %v", err, ErrRefused)
	}
	for _, merchant := range []string{"off", "nobody"} {
		if _, err := m.Redeliver(t.Context(), named(merchant), named("event taken")); !errors.Is(err, ErrNotFound) {
			t.Errorf("an event of another merchant: %v, want %v", err, ErrNotFound)
		}
	}
	// By hand amid the schedule, which goes on, and whose end does not undo the success.
	h.publish(transfer("m", "amid", "3"))
	h.await("m", "amid", func(d *Delivery) bool { return d.Attempts == 1 })
	down.Store(false)
	if a, err := m.Redeliver(t.Context(), named("m"), named("event amid")); err != nil || !a.Succeeded() {
		t.Errorf("amid the schedule: %q, %v", a.Class, err)
	}
	down.Store(true)
	if d, attempts := h.await("m", "amid", func(d *Delivery) bool { return d.State != Pending }); d.State != Delivered || len(attempts) < 2 {
		t.Errorf("after the schedule: %s with %d attempts, want %s", d.State, len(attempts), Delivered)
	}
}

func TestWhatWasTakenByHandAmidTheScheduleIsNotCancelled(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := newShop(t, func(w http.ResponseWriter, _ *http.Request, before int) {
		if before == 0 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	off := toURL(s.URL)
	h.at.set(named("m"), off)
	h.start(nil)
	h.publish(transfer("m", "amid", "1"))
	h.await("m", "amid", func(d *Delivery) bool { return d.Attempts == 1 })
	if a, err := h.manual().Redeliver(t.Context(), named("m"), named("event amid")); err != nil || !a.Succeeded() {
		t.Fatalf("by hand: %q, %v", a.Class, err)
	}
	off.Enabled = false
	h.at.set(named("m"), off)
	if d, _ := h.await("m", "amid", func(d *Delivery) bool { return d.State != Pending }); d.State != Delivered || d.Reason != "" {
		t.Errorf("after the endpoint was disabled: %s (%q), want %s", d.State, d.Reason, Delivered)
	}
}

func TestOfManyAttemptsByHandTheNewestAreShown(t *testing.T) {
	h := newFixture(t)
	h.at.set(named("m"), toURL(newShop(t, nil).URL))
	h.start(nil)
	h.publish(transfer("m", "taken", "1"))
	h.await("m", "taken", hasState(Delivered))
	began := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	var rows []Attempt
	for n := range maxAttempts {
		at := began.Add(time.Duration(n) * time.Second)
		rows = append(rows, Attempt{Merchant: named("m"), Event: named("event taken"), Number: n + 2, Kind: KindManual, Began: at, Ended: at, expires: at.Add(time.Hour)})
	}
	must(t, insertAttempts(t.Context(), h.tables, rows))
	a, err := h.manual().Redeliver(t.Context(), named("m"), named("event taken"))
	if err != nil || a.Number != maxAttempts+2 {
		t.Errorf("the next attempt has number %d, %v, want %d", a.Number, err, maxAttempts+2)
	}
	_, _, attempts, err := NewLog(h.configuration(nil), h.tables).Detail(t.Context(), named("m"), named("event taken"))
	if err != nil || len(attempts) != maxAttempts || attempts[0].Number != 4 || attempts[maxAttempts-1].Number != a.Number {
		t.Errorf("%d attempts, %v, want the newest %d, up to that with number %d", len(attempts), err, maxAttempts, a.Number)
	}
}

func TestAttemptsByHandAreNotReadWhenADeliveryIsTakenUpAgain(t *testing.T) {
	h := newFixture(t)
	c, err := New(h.configuration(nil), h.dependencies())
	must(t, err)
	q := c.newQueue(0)
	list, err := q.enter(t.Context(), []*record.TransferEvent{transfer("m", "waits", "1")})
	must(t, err)
	began := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	rows := []Attempt{{Merchant: named("m"), Event: named("event waits"), Number: 1, Kind: KindAuto, Class: ClassTimeout, Began: began, Ended: began, expires: began.Add(3 * time.Hour)}}
	body := bytes.Repeat([]byte("x"), maxBodyKept)
	for n := range 1000 {
		at := began.Add(time.Duration(n+1) * time.Second)
		rows = append(rows, Attempt{Merchant: named("m"), Event: named("event waits"), Number: n + 2, Kind: KindManual, Class: ClassStatus, Began: at, Ended: at, expires: at.Add(3 * time.Hour), ResponseBody: body})
	}
	must(t, insertAttempts(t.Context(), h.tables, rows))
	costtest.Within(t, time.Minute, 4<<20, func() {
		if err := q.recover(t.Context(), named("m"), list); err != nil {
			t.Error(err)
		}
	})
	if d := list[0]; d.Attempts != 1 || d.number != 2 || d.State != Pending {
		t.Errorf("%d attempts, %s, want the one of the schedule", d.Attempts, d.State)
	}
}

// The schedule may end, or another attempt be taken, while one by hand is under way.
func TestAnAttemptByHandCountsForWhatTheDeliveryIsWhenItEnds(t *testing.T) {
	h := newFixture(t)
	gate := make(chan struct{})
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		<-gate
		if r.Header.Get("webhook-id") == EventID(named("event failed")) {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	h.at.set(named("m"), toURL(s.URL))
	c, err := New(h.configuration(nil), h.dependencies())
	must(t, err)
	m := h.manual()
	list, err := c.newQueue(0).enter(t.Context(), []*record.TransferEvent{transfer("m", "taken", "1"), transfer("m", "failed", "2")})
	must(t, err)
	var attempts sync.WaitGroup
	for _, d := range list {
		attempts.Go(func() {
			if _, err := m.Redeliver(t.Context(), d.Merchant, d.Event); err != nil {
				t.Error(err)
			}
		})
		<-s.arrived
	}
	for n, state := range []State{Exhausted, Delivered} {
		list[n].State, list[n].changed = state, list[n].changed+1
		must(t, insertDeliveries(t.Context(), h.tables, []Delivery{list[n].Delivery}))
	}
	close(gate)
	attempts.Wait()
	for _, name := range []string{"taken", "failed"} {
		if d, _ := h.await("m", name, func(*Delivery) bool { return true }); d.State != Delivered {
			t.Errorf("%s: %s, want %s", name, d.State, Delivered)
		}
	}
}

// An attempt by hand that was not there when the sender looked sees the delivery pending, and leaves it to
// the sender.
func TestASuccessByHandWhileTheEndIsWrittenCounts(t *testing.T) {
	h := newFixture(t)
	c, err := New(h.configuration(nil), h.dependencies())
	must(t, err)
	q := c.newQueue(0)
	list, err := q.enter(t.Context(), []*record.TransferEvent{transfer("m", "late", "1")})
	must(t, err)
	const amid = "CREATE MATERIALIZED VIEW amid TO delivery_attempts AS SELECT merchant, event, 'manual' AS kind, 200 AS code, 1 AS number, expires, 1 AS changed FROM deliveries WHERE state = 'exhausted'"
	must(t, h.tables.Conn().Exec(t.Context(), amid))
	tried := &item{Value: list[0]}
	tried.Value.State = Exhausted
	must(t, q.Write(t.Context(), []*item{tried}))
	if d, attempts := h.await("m", "late", func(*Delivery) bool { return true }); d.State != Delivered || len(attempts) != 1 {
		t.Errorf("%s with %d attempts, want %s with one", d.State, len(attempts), Delivered)
	}
}

func TestTestSendsLookLikeEventsButForTheirReferenceAndHeader(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if r.URL.Path == "/down" {
			w.WriteHeader(http.StatusTeapot)
		}
	})
	off := toURL(s.URL)
	off.Enabled = false
	h.at.set(named("off"), off)
	h.at.set(named("down"), toURL(s.URL+"/down"))
	h.at.set(named("plain"), toURL("http"+s.URL[len("https"):]))
	m := h.manual()
	code := int64(37)
	for _, test := range []struct {
		merchant string
		data     event.Data
		class    Class
		state    State
	}{
		{"off", event.Data{Status: event.Success, Amount: "1", Asset: "TON"}, "", Delivered},
		{"down", event.Data{Status: event.Failed, ErrorCode: &code, ErrorMessage: "Not enough TON"}, ClassStatus, Exhausted},
	} {
		a, err := m.Test(t.Context(), named(test.merchant), event.Event{Data: test.data})
		if err != nil || a.Kind != KindTest || a.Class != test.class || a.Number != 1 || a.Total <= 0 {
			t.Fatalf("%s: %+v, %v", test.merchant, a, err)
		}
		s.mutex.Lock()
		last := s.requests[len(s.requests)-1]
		s.mutex.Unlock()
		if last.header.Get(HeaderTest) != "true" || !signature.Verify(last.body, last.header.Get(signature.Header), testSecret) || !bytes.Contains(last.body, []byte(`"reference":"test_`)) {
			t.Errorf("%s: %s with %v", test.merchant, last.body, last.header)
		}
		d, body, attempts, err := NewLog(h.configuration(nil), h.tables).Detail(t.Context(), named(test.merchant), a.Event)
		if err != nil || d.State != test.state || !d.Test || len(attempts) != 1 || !bytes.Equal(body, last.body) || !strings.HasPrefix(d.ReferenceText(), "test_") {
			t.Errorf("%s: %+v with %d attempts, %v", test.merchant, d, len(attempts), err)
		}
	}
	before := s.count()
	for merchant, reason := range map[string]string{"plain": ReasonInsecure, "nobody": ReasonNoEndpoint} {
		if _, err := m.Test(t.Context(), named(merchant), event.Event{Data: event.Data{Status: event.Success}}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", merchant, err, reason)
		}
	}
	if s.count() != before {
		t.Error("a request was made to an endpoint that nothing is sent to")
	}
}

func TestAReplayIsCancelledAlsoWhereTheWallClockWasPutBack(t *testing.T) {
	h := newFixture(t)
	m, err := NewManual(h.configuration(nil), h.dependencies())
	must(t, err)
	begun := time.Now().UTC().Truncate(time.Microsecond).Add(time.Hour)
	r := Replay{Merchant: named("m"), ID: named("replay"), State: ReplayRunning, Created: begun, changed: uint64(begun.UnixMicro())}
	must(t, m.put(t.Context(), &r))
	if _, err := m.Cancel(t.Context(), r.Merchant, r.ID); err != nil {
		t.Fatal(err)
	}
	if err := m.put(t.Context(), &r); err != nil { // how it stands, by its own process
		t.Fatal(err)
	}
	if now, err := m.Replays(t.Context(), r.Merchant, r.ID); err != nil || now.State != ReplayCancelled {
		t.Errorf("it is %q, %v; want it cancelled", now.State, err)
	}
}

func TestARangeIsReplayedAtItsRateAndCanBeCancelled(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, nil)
	off := toURL(s.URL)
	off.Enabled = false
	h.at.set(named("m"), off)
	h.start(nil)
	m := h.manual()
	var events []*record.TransferEvent
	const n = 60
	for i := range n {
		e := transfer("m", fmt.Sprint(i), fmt.Sprint(i))
		e.Happened += uint64(i)
		events = append(events, e)
	}
	events[5].Duplicate = true
	h.publish(events...)
	for i := range n {
		h.await("m", fmt.Sprint(i), hasState(Ignored))
	}
	h.at.set(named("m"), toURL(s.URL))
	from := time.Unix(1_780_000_000, 0)
	some := Range{From: from, To: from.Add(10 * time.Second)}
	if count, err := m.Count(t.Context(), named("m"), some); err != nil || count != 9 {
		t.Errorf("the dry run counts %d, %v, want 9: one is a duplicate of a payment", count, err)
	}
	await := func(r Replay, state ReplayState) Replay {
		t.Helper()
		for {
			now, err := m.Replays(t.Context(), named("m"), r.ID)
			must(t, err)
			if now.State != ReplayRunning && now.Reported.After(r.Reported) {
				if now.State != state {
					t.Errorf("the replay ends %s, want %s", now.State, state)
				}
				return now
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	r, err := m.Replay(t.Context(), named("m"), some)
	must(t, err)
	if done := await(r, ReplayDone); done.Found != 9 || done.Done != 9 || done.Delivered != 9 || s.count() != 9 {
		t.Errorf("the replay is %+v with %d requests, want 9 of each", done, s.count())
	}
	h.await("m", "0", hasState(Delivered))
	if count, err := m.Count(t.Context(), named("m"), some); err != nil || count != 0 {
		t.Errorf("then the dry run counts %d, %v, want 0", count, err)
	}
	if a, err := m.Redeliver(t.Context(), named("m"), named("event 5")); err != nil || !a.Succeeded() {
		t.Errorf("the duplicate by hand: %q, %v", a.Class, err)
	}
	taken := some
	taken.States = []State{Delivered}
	if count, err := m.Count(t.Context(), named("m"), taken); err != nil || count != 9 {
		t.Errorf("of those that were delivered the dry run counts %d, %v, want 9: a duplicate is one however it was sent", count, err)
	}
	for {
		r, err = m.Replay(t.Context(), named("m"), Range{From: from, To: from.Add(time.Hour)})
		if !errors.Is(err, ErrReplaying) { // the one before has just ended
			break
		}
	}
	must(t, err)
	if _, err := m.Replay(t.Context(), named("m"), some); !errors.Is(err, ErrReplaying) {
		t.Errorf("a second one: %v, want %v", err, ErrReplaying)
	}
	if _, err := m.Cancel(t.Context(), named("other"), r.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("cancelled by another merchant: %v, want %v", err, ErrNotFound)
	}
	if _, err := m.Cancel(t.Context(), named("m"), r.ID); err != nil {
		t.Fatal(err)
	}
	now, err := m.Replays(t.Context(), named("m"), r.ID)
	if err != nil || now.State != ReplayCancelled {
		t.Errorf("after the cancellation it is %s, %v", now.State, err)
	}
	for {
		m.mutex.Lock()
		going := len(m.replays)
		m.mutex.Unlock()
		if going == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := s.count(); got >= n-1 {
		t.Errorf("%d requests, want less than the %d of the whole range", got, n-1)
	}
	for _, bad := range []Range{{}, {From: from, To: from}, {From: from, To: from.Add(1), States: []State{Pending}}} {
		if _, err := m.Replay(t.Context(), named("m"), bad); !errors.Is(err, ErrRange) {
			t.Errorf("%+v: %v, want %v", bad, err, ErrRange)
		}
	}
}

func TestLogIsSearchedByWhatMerchantsKnowAndItsPagesDoNotMove(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, nil)
	h.at.set(named("m"), toURL(s.URL))
	h.at.set(named("other"), toURL(s.URL))
	h.start(nil)
	l := NewLog(h.configuration(nil), h.tables)
	const n = 25
	publish := func(first, last int) {
		t.Helper()
		var events []*record.TransferEvent
		for i := first; i < last; i++ {
			e := transfer("m", fmt.Sprint(i), fmt.Sprint(i))
			e.Happened += uint64(i / 2)
			events = append(events, e)
		}
		h.publish(append(events, transfer("other", fmt.Sprint("o", first), "o"))...)
		for i := first; i < last; i++ {
			h.await("m", fmt.Sprint(i), hasState(Delivered))
		}
	}
	publish(0, n)
	seen, cursor := map[ID]int{}, ""
	var last *Delivery
	for page := 0; ; page++ {
		list, next, err := l.Search(t.Context(), named("m"), Search{Limit: 4, Cursor: cursor})
		must(t, err)
		for i := range list {
			seen[list[i].Event]++
			if last != nil && list[i].Happened.After(last.Happened) {
				t.Error("an older delivery comes before a newer one")
			}
			last = &list[i]
		}
		if page == 1 {
			publish(n, n+5)
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	for i := range n {
		if got := seen[named(fmt.Sprint("event ", i))]; got != 1 {
			t.Errorf("delivery %d is on %d pages, want 1", i, got)
		}
	}
	if len(seen) != n {
		t.Errorf("%d deliveries, want %d", len(seen), n)
	}
	yes := true
	e := transfer("m", "7", "7")
	id := func(name string) *ID { of := named(name); return &of }
	hash := func(raw []byte) *[32]byte { return (*[32]byte)(raw) }
	for name, test := range map[string]struct {
		search Search
		want   int
	}{
		"event":        {Search{Event: id("event 7")}, 1},
		"reference":    {Search{Reference: id("reference 7")}, 1},
		"body hash":    {Search{BodyHash: hash(e.BodyHash)}, 1},
		"transaction":  {Search{TxHash: hash(e.TxHash)}, 1},
		"trace":        {Search{TraceID: hash(e.TraceId)}, 1},
		"no event":     {Search{Event: &ID{}}, 0},
		"no reference": {Search{Reference: &ID{}}, 0},
		"no trace":     {Search{TraceID: &[32]byte{}}, 0},
		"of another":   {Search{Event: id("event o0")}, 0},
		"code":         {Search{Code: 200}, n + 5},
		"another code": {Search{Code: 500}, 0},
		"class":        {Search{Class: ClassTimeout}, 0},
		"state":        {Search{States: []State{Delivered}}, n + 5},
		"other states": {Search{States: []State{Pending, Exhausted}}, 0},
		"time":         {Search{From: time.Unix(1_780_000_002, 0), To: time.Unix(1_780_000_004, 0)}, 4},
		"tests":        {Search{Test: &yes}, 0},
	} {
		list, _, err := l.Search(t.Context(), named("m"), test.search)
		if err != nil || len(list) != test.want {
			t.Errorf("by %s: %d deliveries, %v, want %d", name, len(list), err, test.want)
		}
	}
	for _, cursor := range []string{"x", "AAAA", "' OR 1"} {
		if _, _, err := l.Search(t.Context(), named("m"), Search{Cursor: cursor}); !errors.Is(err, ErrCursor) {
			t.Errorf("cursor %q: %v, want %v", cursor, err, ErrCursor)
		}
	}
	h.at.set(named("fresh"), toURL(s.URL))
	for i := range 3 {
		e := transfer("fresh", fmt.Sprint("f", i), fmt.Sprint(i))
		e.Happened = uint64(time.Now().Unix())
		h.publish(e)
		h.await("fresh", fmt.Sprint("f", i), hasState(Delivered))
	}
	health, err := l.Health(t.Context(), named("fresh"))
	if err != nil || health.Open || health.Ended != 3 || health.SuccessRate != 1 || health.Queued != 0 || health.P50 <= 0 || health.P99 < health.P50 || health.LastSuccess.IsZero() {
		t.Errorf("health is %+v, %v", health, err)
	}
	if none, err := l.Health(context.Background(), named("nobody")); err != nil || none != (Health{}) {
		t.Errorf("health of nobody is %+v, %v", none, err)
	}
}

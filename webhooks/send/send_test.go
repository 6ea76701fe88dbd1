package send

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"tonscribe/schema/record"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/signature"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestEventIsPostedOnceSignedAndLogged(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("X-Shop", "open")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "thanks")
	})
	h.at.set(named("m"), Endpoint{URL: s.URL + "/hook?shop=1", Enabled: true, Secret: testSecret, Next: "next", Old: "old"})
	h.start(nil)
	e := transfer("m", "1", "1")
	h.publish(e)
	d, attempts := h.await("m", "1", hasState(Delivered))
	if n := s.count(); n != 1 {
		t.Fatalf("%d requests, want 1", n)
	}
	got := s.of("1")[0]
	if !bytes.Equal(got.body, e.Body) {
		t.Errorf("the body is %s, want %s", got.body, e.Body)
	}
	if !signature.Verify(got.body, got.header.Get("X-Pay-Signature"), testSecret) || !signature.Verify(got.body, got.header.Get(HeaderNext), "next") {
		t.Errorf("the signatures are %q and %q, want those of the secret and of the next one", got.header.Get("X-Pay-Signature"), got.header.Get(HeaderNext))
	}
	if want := signature.Standard(EventID(named("event 1")), attempts[0].Began, e.Body, testSecret, "next", "old"); got.header.Get("webhook-signature") != want {
		t.Errorf("webhook-signature is %q, want %q", got.header.Get("webhook-signature"), want)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "User-Agent": "tonscribe/test", HeaderAttempt: "1", HeaderTest: "", "Accept-Encoding": "",
		"webhook-timestamp": fmt.Sprint(attempts[0].Began.Unix())} {
		if have := got.header.Get(name); have != want {
			t.Errorf("header %s is %q, want %q", name, have, want)
		}
	}
	a := attempts[0]
	if len(attempts) != 1 || a.Kind != KindAuto || a.Number != 1 || a.Code != 201 || a.Class != "" || string(a.ResponseBody) != "thanks" ||
		a.ResponseHeaders.Get("X-Shop") != "open" || a.RequestHeaders.Get("X-Pay-Signature") != got.header.Get("X-Pay-Signature") || a.KeyID != signature.KeyID(testSecret) ||
		a.Remote != s.Listener.Addr().String() || a.Total <= 0 || a.TLS <= 0 || a.Connect <= 0 {
		t.Errorf("the attempts are %+v", attempts)
	}
	if d.Attempts != 1 || d.LastCode != 201 || d.LastClass != "" || d.Status != event.Success || d.ReferenceText() != referenceText(named("reference 1"), false) {
		t.Errorf("the delivery is %+v", d)
	}
}

func TestEventsThatTheLogHasTwiceOrThatAreDetectedAgainArePostedOnce(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, nil)
	h.at.set(named("m"), toURL(s.URL))
	c := h.start(nil)
	h.publish(transfer("m", "1", "1"), transfer("m", "1", "1"))
	h.await("m", "1", hasState(Delivered))
	h.publish(transfer("m", "1", "1"), transfer("m", "2", "2"))
	h.await("m", "2", hasState(Delivered))
	h.stop(c)
	h.start(nil) // which has forgotten what it knew
	h.publish(transfer("m", "1", "1"), transfer("m", "3", "3"))
	h.await("m", "3", hasState(Delivered))
	for _, name := range []string{"1", "2", "3"} {
		if n := len(s.of(name)); n != 1 {
			t.Errorf("event %s was posted %d times, want 1", name, n)
		}
	}
}

func TestFailuresAreTriedAgainOnScheduleWithTheSameBytesAndThenNoMore(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, _ int) { w.WriteHeader(http.StatusInternalServerError) })
	late := newShop(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n < 2 {
			w.WriteHeader(http.StatusGone)
		}
	})
	h.at.set(named("down"), toURL(s.URL))
	h.at.set(named("late"), toURL(late.URL))
	h.start(nil)
	h.publish(transfer("down", "1", "1"), transfer("late", "2", "2"))
	d, attempts := h.await("down", "1", hasState(Exhausted))
	if len(attempts) != 4 || d.Attempts != 4 || d.LastCode != 500 || d.LastClass != string(ClassStatus) {
		t.Errorf("%d attempts, delivery %+v, want 4 that end with 500", len(attempts), d)
	}
	for n, a := range attempts {
		if a.Number != n+1 || a.RequestHeaders.Get(HeaderAttempt) != fmt.Sprint(n+1) || a.Kind != KindAuto {
			t.Errorf("attempt %d is number %d of kind %s", n+1, a.Number, a.Kind)
		}
		if n > 0 {
			if pause := a.Began.Sub(attempts[n-1].Ended); pause < retries[n-1] {
				t.Errorf("attempt %d began %s after the end of the one before, want at least %s", n+1, pause, retries[n-1])
			} else {
				t.Logf("attempt %d is %s late", n+1, pause-retries[n-1])
			}
		}
	}
	requests := s.of("1")
	if len(requests) != 4 {
		t.Fatalf("%d requests, want 4", len(requests))
	}
	for _, r := range requests[1:] {
		if !bytes.Equal(r.body, requests[0].body) || r.header.Get("webhook-id") != requests[0].header.Get("webhook-id") {
			t.Errorf("a retry has body %s of %s, want %s of %s", r.body, r.header.Get("webhook-id"), requests[0].body, requests[0].header.Get("webhook-id"))
		}
	}
	if _, attempts := h.await("late", "2", hasState(Delivered)); len(attempts) != 3 {
		t.Errorf("the one that is taken late has %d attempts, want 3", len(attempts))
	}
}

func TestWhereNothingMayBeSentEventsAreKeptAsIgnoredWithTheReason(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, nil)
	disabled := toURL(s.URL)
	disabled.Enabled = false
	for name, e := range map[string]Endpoint{"disabled": disabled, "plain": toURL("http" + s.URL[len("https"):]), "invalid": toURL("ftp://shop"), "user": toURL("https://me@shop"),
		"empty": {}, "twice": toURL(s.URL)} {
		h.at.set(named(name), e)
	}
	h.start(nil)
	duplicate := transfer("twice", "twice", "r")
	duplicate.Duplicate = true
	h.publish(transfer("disabled", "disabled", "r"), transfer("plain", "plain", "r"), transfer("invalid", "invalid", "r"), transfer("user", "user", "r"),
		transfer("empty", "empty", "r"), transfer("unknown", "unknown", "r"), duplicate)
	for name, reason := range map[string]string{"disabled": ReasonDisabled, "plain": ReasonInsecure, "invalid": ReasonInvalid, "user": ReasonInvalid,
		"empty": ReasonNoEndpoint, "unknown": ReasonNoEndpoint, "twice": ReasonDuplicate} {
		d, attempts := h.await(name, name, hasState(Ignored))
		if d.Reason != reason || len(attempts) != 0 {
			t.Errorf("%s: reason %q with %d attempts, want %q and none", name, d.Reason, len(attempts), reason)
		}
	}
	if n := s.count(); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

// A merchant who has enabled the endpoint was told that it is, also where the sender does
// not hold the row yet.
func TestNothingIsIgnoredForWhatAnEndpointWasBefore(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, nil)
	disabled := toURL(s.URL)
	disabled.Enabled = false
	for name, before := range map[string]Endpoint{"disabled": disabled, "empty": {}, "plain": toURL("http" + s.URL[len("https"):])} {
		h.at.set(named(name), toURL(s.URL))
		h.at.before[named(name)] = before
	}
	h.start(nil)
	h.publish(transfer("disabled", "disabled", "r"), transfer("empty", "empty", "r"), transfer("plain", "plain", "r"))
	for _, name := range []string{"disabled", "empty", "plain"} {
		d, _ := h.await(name, name, func(d *Delivery) bool { return d.State != Pending })
		if d.State != Delivered {
			t.Errorf("%s before: %s for %q, want %s", name, d.State, d.Reason, Delivered)
		}
	}
}

func TestEventsThatNothingWouldSignWait(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, nil)
	unsigned := toURL(s.URL)
	unsigned.Secret = ""
	h.at.set(named("m"), unsigned)
	h.start(nil)
	h.publish(transfer("m", "1", "1"))
	h.await("m", "1", func(d *Delivery) bool { return d.State == Pending && d.Due.After(d.Detected) })
	if n := s.count(); n != 0 {
		t.Fatalf("%d requests without a secret", n)
	}
	h.at.set(named("m"), toURL(s.URL))
	if _, attempts := h.await("m", "1", hasState(Delivered)); len(attempts) != 1 || attempts[0].Number != 1 {
		t.Errorf("the attempts are %+v, want the first one", attempts)
	}
}

func TestEventsOfAReferenceFollowEachOtherAndOthersAreNotHeldUp(t *testing.T) {
	h := newFixture(t)
	gate := make(chan struct{})
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if r.Header.Get("webhook-id") == EventID(named("event a1")) && n == 0 {
			<-gate
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	h.at.set(named("m"), toURL(s.URL))
	h.start(nil)
	h.publish(transfer("m", "a1", "a"))
	<-s.arrived
	h.publish(transfer("m", "a2", "a"), transfer("m", "b", "b"))
	h.await("m", "b", hasState(Delivered))
	close(gate)
	h.await("m", "a2", hasState(Delivered))
	var order []string
	s.mutex.Lock()
	for _, r := range s.requests {
		for _, name := range []string{"a1", "a2", "b"} {
			if r.header.Get("webhook-id") == EventID(named("event "+name)) {
				order = append(order, name)
			}
		}
	}
	s.mutex.Unlock()
	if want := []string{"a1", "b", "a1", "a2"}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}

func TestMoreThanMemoryHoldsWaitsInTheTable(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, nil)
	const merchants, each = 5, 20
	for n := range merchants {
		h.at.set(named(fmt.Sprint(n)), toURL(s.URL))
	}
	h.start(func(c *Configuration) { c.Held, c.EndpointAttempts, c.EndpointMax = 8, 2, 4 })
	var all []*record.TransferEvent
	for n := range merchants * each {
		all = append(all, transfer(fmt.Sprint(n%merchants), fmt.Sprint(n), fmt.Sprint(n)))
	}
	h.publish(all...)
	for n := range merchants * each {
		h.await(fmt.Sprint(n%merchants), fmt.Sprint(n), hasState(Delivered))
	}
	if n := s.count(); n != merchants*each {
		t.Errorf("%d requests, want %d", n, merchants*each)
	}
}

// Deliveries that are held may be older than all that wait in the table.
func TestWhatWaitsInTheTableIsNotForgottenBehindOlderOnesThatAreHeld(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const many = 8
	held := map[string]bool{}
	for n := range many {
		held[EventID(named(fmt.Sprint("event old ", n)))] = true
	}
	one, others := make(chan struct{}), make(chan struct{})
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, n int) {
		id := r.Header.Get("webhook-id")
		switch {
		case !held[id]:
		case n == 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case id == EventID(named("event old 0")):
			<-one
		default:
			<-others
		}
	})
	h.at.set(named("m"), toURL(s.URL))
	h.start(func(c *Configuration) { c.Held, c.EndpointAttempts, c.EndpointMax = testPartitions*many, many, many })
	var old, late []*record.TransferEvent
	for n := range many {
		old = append(old, transfer("m", fmt.Sprint("old ", n), fmt.Sprint(n)))
	}
	h.publish(old...)
	for n := range many {
		h.await("m", fmt.Sprint("old ", n), func(d *Delivery) bool { return d.Attempts == 1 })
	}
	for n := range 3 {
		e := transfer("m", fmt.Sprint("late ", n), fmt.Sprint("late ", n))
		e.Happened += 5
		late = append(late, e)
	}
	h.publish(late...)
	for n := range late {
		h.await("m", fmt.Sprint("late ", n), hasState(Pending))
	}
	close(one) // there is room for one more
	for len(s.of("late 0"))+len(s.of("late 1"))+len(s.of("late 2")) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	close(others)
	for n := range late {
		h.await("m", fmt.Sprint("late ", n), hasState(Delivered))
	}
}

// What a sender was about to write when it lost its partition may come to be there when the
// next one has looked for what waits already.
func TestDeliveriesThatASenderBeforeWritesLateAreMade(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, nil)
	h.at.set(named("m"), toURL(s.URL))
	c := h.start(nil)
	h.publish(transfer("m", "1", "1"))
	h.await("m", "1", hasState(Delivered))
	late := transfer("m", "2", "2")
	before := c.newQueue(0)
	if fresh, err := before.enter(t.Context(), []*record.TransferEvent{late}); err != nil || len(fresh) != 1 {
		t.Fatalf("%d deliveries, %v", len(fresh), err)
	}
	h.publish(late) // which the one before has not committed
	h.await("m", "2", hasState(Delivered))
	if n := len(s.of("2")); n != 1 {
		t.Errorf("it was posted %d times, want 1", n)
	}
}

func TestNothingWaitsLongerThanTheScheduleAfterTheWallClockWasPutBack(t *testing.T) {
	h := newFixture(t)
	c, err := New(h.configuration(nil), h.dependencies())
	must(t, err)
	fresh, err := c.newQueue(0).enter(t.Context(), []*record.TransferEvent{transfer("m", "1", "1")})
	if err != nil || len(fresh) != 1 {
		t.Fatalf("%d deliveries, %v", len(fresh), err)
	}
	d := fresh[0].Delivery
	d.Due, d.changed = d.Due.Add(time.Hour), d.changed+1
	must(t, insertDeliveries(t.Context(), h.tables, []Delivery{d}))
	q := c.newQueue(0)
	q.await(d.Merchant, d.Happened)
	items, _, err := q.Read(t.Context(), d.Merchant, 1)
	if err != nil || len(items) != 1 {
		t.Fatalf("%d deliveries, %v", len(items), err)
	}
	if wait := time.Until(items[0].Due); wait > maxPause {
		t.Errorf("it is due in %s, want %s at most", wait, maxPause)
	}
}

func TestAStopWaitsForWhatIsUnderWayAndWhatIsCutIsMadeAgainWithItsNumber(t *testing.T) {
	h := newFixture(t)
	gate := make(chan struct{})
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 0 && r.Header.Get("webhook-id") == EventID(named("event hangs")) {
			<-r.Context().Done()
		}
		if n == 0 && r.Header.Get("webhook-id") == EventID(named("event slow")) {
			<-gate
		}
	})
	h.at.set(named("m"), toURL(s.URL))
	c := h.start(func(c *Configuration) { c.StopTimeout = 5 * time.Second })
	h.publish(transfer("m", "hangs", "1"), transfer("m", "slow", "2"))
	<-s.arrived
	<-s.arrived
	var stopping sync.WaitGroup
	stopping.Go(func() { h.stop(c) })
	close(gate)
	stopping.Wait()
	h.start(nil)
	_, attempts := h.await("m", "hangs", hasState(Delivered))
	if len(attempts) != 2 || attempts[0].Kind != KindInterrupted || attempts[0].Class != ClassInterrupted || attempts[0].Number != 1 || attempts[1].Kind != KindAuto || attempts[1].Number != 1 {
		t.Errorf("the attempts are %+v, want an interrupted one and one with its number", attempts)
	}
	if _, attempts := h.await("m", "slow", hasState(Delivered)); len(attempts) != 1 || len(s.of("slow")) != 1 {
		t.Errorf("what ended within the time was posted %d times, with %d attempts; want 1", len(s.of("slow")), len(attempts))
	}
}

func TestAnEndpointThatTakesNothingForDaysIsDisabled(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, _ int) { w.WriteHeader(http.StatusBadGateway) })
	rows := func(merchant string, of ...Delivery) {
		t.Helper()
		for n := range of {
			of[n].Merchant, of[n].Event, of[n].Happened = named(merchant), named(fmt.Sprint(merchant, n)), of[n].LastEnded
			of[n].Detected, of[n].expires = of[n].LastEnded, time.Now().Add(time.Hour)
		}
		must(t, insertDeliveries(t.Context(), h.tables, of))
	}
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d).UTC().Truncate(time.Second) }
	const day = 24 * time.Hour
	rows("gone", Delivery{State: Delivered, LastEnded: ago(7 * day)}, Delivery{State: Exhausted, LastEnded: ago(6 * day)})
	rows("wakes", Delivery{State: Exhausted, LastEnded: ago(6 * day)}, Delivery{State: Delivered, LastEnded: ago(4 * day)}, Delivery{State: Exhausted, LastEnded: ago(3 * day)})
	rows("tested", Delivery{State: Exhausted, LastEnded: ago(6 * day), Test: true})
	rows("anew", Delivery{State: Exhausted, LastEnded: ago(6 * day)}, Delivery{State: Exhausted, LastEnded: ago(day)})
	now := uint64(time.Now().Unix())
	merchants := []string{"gone", "wakes", "tested", "anew"}
	for _, merchant := range merchants {
		endpoint := toURL(s.URL)
		if merchant == "anew" { // its merchant has enabled it, or said another URL
			endpoint.Changed = ago(time.Hour)
		}
		h.at.set(named(merchant), endpoint)
		e := transfer(merchant, merchant, "1")
		e.Happened = now
		h.publish(e)
	}
	h.start(nil)
	for _, merchant := range merchants {
		h.await(merchant, merchant, hasState(Exhausted))
	}
	for {
		h.at.mutex.Lock()
		disabled := len(h.at.disabled)
		h.at.mutex.Unlock()
		if disabled > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(time.Duration(len(merchants)+1) * measureEvery) // looks at the others come one a second
	h.at.mutex.Lock()
	defer h.at.mutex.Unlock()
	if _, is := h.at.disabled[named("gone")]; !is || len(h.at.disabled) != 1 {
		t.Errorf("disabled: %v, want the one that took nothing for six days alone", h.at.disabled)
	}
}

func TestASecondSenderTakesOverAndTheyShareMerchants(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, nil)
	for n := range 20 {
		h.at.set(named(fmt.Sprint(n)), toURL(s.URL))
	}
	first := h.start(nil)
	h.publish(transfer("0", "before", "1"))
	h.await("0", "before", hasState(Delivered))
	h.start(nil)
	for round := range 3 {
		var all []*record.TransferEvent
		for n := range 20 {
			all = append(all, transfer(fmt.Sprint(n), fmt.Sprint(round, n), fmt.Sprint(round)))
		}
		h.publish(all...)
		if round == 1 {
			h.stop(first)
		}
		for n := range 20 {
			h.await(fmt.Sprint(n), fmt.Sprint(round, n), hasState(Delivered))
		}
	}
	for round := range 3 {
		for n := range 20 {
			if got := len(s.of(fmt.Sprint(round, n))); got != 1 {
				t.Errorf("event %d of round %d was posted %d times, want 1", n, round, got)
			}
		}
	}
}

func TestWhatHasExpiredIsDeletedAndNotSent(t *testing.T) {
	h := newFixture(t)
	s := newShop(t, nil)
	h.at.set(named("m"), toURL(s.URL))
	now := time.Now().UTC().Truncate(time.Second)
	rows := func(name string, expires time.Time) {
		e := transfer("m", name, name)
		d := deliveryOf(e, now, 0)
		d.expires, d.changed = expires, 1
		must(t, insertEvents(t.Context(), h.tables, []*record.TransferEvent{e}, []delivery{d}))
		must(t, insertDeliveries(t.Context(), h.tables, []Delivery{d.Delivery}))

	}
	rows("old", now.Add(-time.Hour))
	rows("new", now.Add(time.Hour))
	h.start(nil)
	h.await("m", "new", hasState(Delivered))
	if n := s.count(); n != 1 {
		t.Errorf("%d requests, want that of the one that has not expired", n)
	}
	// What a payment came to is asked for long after the delivery has been forgotten.
	for table, want := range map[string]uint64{"events": 2, "deliveries": 1} {
		must(t, h.tables.Conn().Exec(t.Context(), "OPTIMIZE TABLE "+table+" FINAL"))
		var left uint64
		if err := h.tables.Conn().QueryRow(t.Context(), "SELECT count() FROM "+table).Scan(&left); err != nil || left != want {
			t.Errorf("%s has %d rows after a merge, %v, want %d", table, left, err, want)
		}
	}
	// Nor is it news when history is read once more.
	h.publish(transfer("m", "old", "old"), transfer("m", "newer", "newer"))
	h.await("m", "newer", hasState(Delivered))
	if n := len(s.of("old")); n != 0 {
		t.Errorf("what was detected again after its delivery was deleted was posted %d times, want 0", n)
	}
}

package live

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/query/head"
	"tonscribe/query/live/events"
	"tonscribe/query/pending"
	"tonscribe/query/rows"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// A message that was foreseen on a state before another one was taken does not come.
func TestWhatWasForeseenBeforeItsAccountTookAnotherMessageIsNotTold(t *testing.T) {
	l := newComponent(t, nil)
	c := subscribed(t, l, ofAccount(1, "pending"))
	another := func(prevLt uint64) *events.Trace {
		of := traceOf(0, 0, 1)
		of.Row.Trace.ExternalHashNorm = slices.Repeat([]byte{9}, 32)
		of.All[0].Lt, of.All[0].PrevTransLt = prevLt+1, prevLt
		return of
	}
	first := traceOf(1, 1, 1)
	l.hub.publish(t.Context(), bundleOf(1, first, false), nil)
	wantEvents(t, "who wants the account", c, "transactions finalized 1-0")
	foretell(t, l, another(first.All[0].Lt-1))
	wantEvents(t, "who was told that another message was taken", c)
	foretell(t, l, another(first.All[0].Lt))
	wantEvents(t, "who may get the next message", c, "transactions pending 1")
}

// What a message will do is read only where a stream wants it: the others would wait for it.
func TestWhatNobodyWantsIsNotForeseen(t *testing.T) {
	for finality, wanted := range map[string]bool{"finalized": false, "confirmed": false, "pending": true} {
		l := newComponent(t, nil) // reading fails
		l.hub.active = 1
		c := subscribed(t, l, ofAccount(1, finality))
		ctx, stop := context.WithCancel(t.Context())
		coming, ended := make(chan *pending.Trace), make(chan struct{})
		go func() {
			defer close(ended)
			l.hub.foresee(ctx, coming)
		}()
		for range 2 { // when the second one is taken, the first one was looked at
			coming <- &pending.Trace{Sent: time.Now()}
		}
		stop()
		<-ended
		if read := testutil.ToFloat64(l.metrics.failures) > 0; read != wanted {
			t.Errorf("for who wants what is %s it is read: %v, want %v", finality, read, wanted)
		}
		l.hub.end(c)
		if l.hub.foreseeing() {
			t.Errorf("it is wanted by a stream of what is %s that has ended", finality)
		}
	}
}

// Messages that wait are read together: one by one, each would wait for those before it, and
// those would be left out that there is no room for meanwhile.
func TestMessagesThatWaitAreReadTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newComponent(t, nil) // reading fails
		subscribed(t, l, ofAccount(1, "pending"))
		coming := make(chan *pending.Trace, 5*rows.MaxPendingTraces)
		for range cap(coming) {
			coming <- &pending.Trace{Sent: time.Now()}
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go l.hub.foresee(ctx, coming)
		synctest.Wait()
		if readings := testutil.ToFloat64(l.metrics.failures); readings != 5 || len(coming) != 0 {
			t.Errorf("%v readings of %d messages that wait, and %d are left, want 5", readings, cap(coming), len(coming))
		}
	})
}

// A message that waits to be told to all may have been told to who asks for what is new.
func TestWhatAMessageWillDoIsToldOnceToWhoAskedForItBeforeTheOthers(t *testing.T) {
	l := newComponent(t, nil)
	asked, other := subscribed(t, l, ofAccount(1, "pending")), subscribed(t, l, ofAccount(1, "pending"))
	of := traceOf(0, 0, 1)
	l.hub.hand(t.Context(), l.hub.matchesOfForeseen(of.Row, events.EndOf(0), asked))
	foretell(t, l, of)
	wantEvents(t, "who asked", asked, "transactions pending 0")
	wantEvents(t, "another one", other, "transactions pending 0")
	foretell(t, l, traceOf(0, 0, 1))
	wantEvents(t, "who asked, of what was sent again", asked, "transactions pending 0")
	wantEvents(t, "another one, of what was sent again", other, "transactions pending 0")
}

// A stream that has room for a part of what a message will do gets it as a whole later.
func TestWhatAMessageWillDoComesAsAWholeOrNotYet(t *testing.T) {
	l := newComponent(t, func(c *Configuration) { c.Queue = 2 })
	of := traceOf(0, 0, 1)
	c := subscribed(t, l, fmt.Sprintf(`{"types":["transactions","trace"],"addresses":["%s"],"trace_external_hash_norms":["%x"],"min_finality":"pending"}`, rawAddress(1), of.Hash))
	l.hub.publish(t.Context(), bundleOf(1, traceOf(1, 1, 1), false), nil)
	next := traceOf(0, 0, 1)
	next.Row.ExternalHashNorm = slices.Repeat([]byte{9}, 32)
	next.Root().PrevTransLt = next.Root().Lt
	s := subscriptionOf(t, fmt.Sprintf(`{"types":["transactions","trace"],"addresses":["%s"],"trace_external_hash_norms":["%x"],"min_finality":"pending"}`, rawAddress(1), next.Row.ExternalHashNorm))
	l.hub.begin(c, s)
	foretell(t, l, next)
	<-c.catching.done
	wantEvents(t, "who has room for one more", c, "transactions finalized 1-0")
	if l.hub.reported(c, events.Hash(next.Row.ExternalHashNorm)) {
		t.Error("it is not told of it when it has room")
	}
	l.hub.hand(t.Context(), l.hub.matchesOfForeseen(next.Row, events.EndOf(1), c))
	wantEvents(t, "who has room then", c, "transactions pending 1", "trace pending 1")
}

// A message that is sent again may have another outcome by then.
func TestWhoIsBehindIsToldAnewOfAMessageThatWasSentAgain(t *testing.T) {
	l := newComponent(t, nil)
	behind := subscribed(t, l, ofAccount(1, "pending"))
	s, of := behind.subscription(), traceOf(0, 0, 1)
	foretell(t, l, of)
	wantEvents(t, "who is behind then", behind, "transactions pending 0")
	l.hub.replace(behind, nil)
	foretell(t, l, of)
	if !l.hub.reported(behind, of.Hash) {
		t.Error("who is behind is told again of what it was told")
	}
	again := traceOf(0, 0, 1)
	again.Root().Aborted = true
	foretell(t, l, again)
	if l.hub.reported(behind, again.Hash) {
		t.Error("who is behind is not told of another outcome")
	}
	if _, joined := l.hub.join(t.Context(), behind, s, events.EndOf(0)); !joined {
		t.Fatal("it is still behind")
	}
	l.hub.hand(t.Context(), l.hub.matchesOfForeseen(again.Row, events.EndOf(0), behind))
	wantEvents(t, "who was behind", behind, "transactions pending 0")
	came := traceOf(1, 1, 1)
	came.Root().Aborted = true
	l.hub.publish(t.Context(), bundleOf(1, came, false), nil)
	wantEvents(t, "who was told of the outcome", behind, "transactions finalized 1-0")
}

// oneLog is a log that has what one message will do.
type oneLog struct{ *record.PendingTrace }

func (oneLog) EnsureTopics(context.Context, []schema.Topic) error { return nil }

func (oneLog) Publish(context.Context, string, int, []*record.Record) error { return nil }

func (l oneLog) Watch(ctx context.Context, _ string, _ int, take func(kafka.Item)) error {
	take(kafka.Item{Record: &record.Record{Content: &record.Record_Pending{Pending: l.PendingTrace}}})
	<-ctx.Done()
	return ctx.Err()
}

// holding is a store of what a trace is foreseen to be.
func holding(t testing.TB, of *events.Trace) *pending.Store {
	t.Helper()
	r := &record.PendingTrace{Time: uint32(time.Now().Unix()), Transactions: of.Row.Tree.Transactions}
	r.Transactions[0].InMsg.HashNorm = of.Row.ExternalHashNorm
	c, err := pending.New(pending.DefaultConfiguration(), pending.Dependencies{Report: report.Silent(), Log: oneLog{r}})
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan struct{})
	c.Listen(func(*pending.Trace) { close(held) })
	c.Start(nil)
	t.Cleanup(c.Stop)
	<-held
	return c.Store
}

// What blocks have comes although the rest cannot be read, and to who wants nothing else
// before it is read.
func TestWhatIsFinalDoesNotWaitForWhatIsForeseen(t *testing.T) {
	database, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newComponentAt(t, database.Addr().String(), nil)
	l.index.Pending = holding(t, traceOf(0, 0, 1, 2))
	final, again, wants := subscribed(t, l, ofAccount(1, "finalized")), subscribed(t, l, ofAccount(1, "finalized")), subscribed(t, l, ofAccount(1, "pending"))
	foretell(t, l, traceOf(0, 0, 1, 2))
	wantEvents(t, "who wants what is foreseen", wants, "transactions pending 0")
	give := func(b *events.Bundle) {
		t.Helper()
		if _, err := l.hub.history.get(b.MCSeqno, func() (*events.Bundle, error) { return b, nil }); err != nil {
			t.Fatal(err)
		}
		if err := l.hub.give(t.Context(), &head.View{}, b.MCSeqno); err != nil {
			t.Error(err)
		}
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for asked := false; ; asked = true {
			c, err := database.Accept()
			if err != nil {
				return
			}
			if !asked {
				wantEvents(t, "who wants what is final, while the rest is read,", final, "transactions finalized 1-0")
				wantEvents(t, "who wants what is foreseen, while it is read,", wants)
				if err := again.subscribe(subscriptionOf(t, ofAccount(1, "finalized")), func(events.Position) []byte { return nil }); err != nil {
					t.Error(err)
				}
			}
			c.Close()
		}
	}()
	give(bundleOf(1, traceOf(1, 1, 1), true))
	database.Close()
	<-read
	wantEvents(t, "who wants what is final", final)
	wantEvents(t, "who subscribes anew meanwhile", again, "transactions finalized 1-0")
	wantEvents(t, "who wants what is foreseen", wants, "transactions finalized 1-0")
	if failures := testutil.ToFloat64(l.metrics.failures); failures != 1 {
		t.Errorf("%v failures, want 1", failures)
	}
	second := bundleOf(2, traceOf(2, 1, 1, 2), true)
	l.hub.publish(t.Context(), second, foreseenWith(second, traceOf(2, 1, 1, 2, 3)))
	wantEvents(t, "who has the first of it as final", wants, "transactions finalized 2-0")
	give(bundleOf(3, traceOf(3, 1, 1, 2, 3), false))
	wantEvents(t, "who has a part of it as final", wants, "transactions finalized 3-0")
}

// A block may have several messages of an account, and a message may be foreseen on a state
// that the index does not have yet.
func TestOnlyWhatWasForeseenBeforeItsAccountTookAnotherMessageIsInvalidatedByThat(t *testing.T) {
	first := traceOf(1, 1, 1)
	for what, c := range map[string]struct {
		prevLt uint64 // of the state that the second message is foreseen on
		same   bool   // one bundle has both
		want   []string
	}{
		"who was told of what was foreseen before":          {first.All[0].Lt - 1, false, []string{"transactions pending 0", "trace_invalidated  0", "transactions finalized 1-0", "transactions finalized 2-0"}},
		"who was told of what comes next":                   {first.All[0].Lt, false, []string{"transactions pending 0", "transactions finalized 1-0", "transactions finalized 2-0"}},
		"who was told of what comes with the other message": {first.All[0].Lt - 1, true, []string{"transactions pending 0", "transactions finalized 1-0", "transactions finalized 1-1"}},
	} {
		l := newComponent(t, nil)
		stream := subscribed(t, l, ofAccount(1, "pending"))
		second := func(inBlocks int) *events.Trace {
			of := traceOf(inBlocks, inBlocks, 1)
			of.Row.ExternalHashNorm = slices.Repeat([]byte{9}, 32)
			of.All[0].Lt, of.All[0].PrevTransLt = first.All[0].Lt+1, c.prevLt
			return events.NewTrace(of.Row, of.All[:inBlocks])
		}
		foretell(t, l, second(0))
		one, two := bundleOf(1, traceOf(1, 1, 1), false), bundleOf(2, second(1), false)
		if c.same {
			two.Events[0].Position = events.Position{MCSeqno: 1, Event: 1}
			one.Events = append(one.Events, two.Events...)
		}
		l.hub.publish(t.Context(), one, nil)
		if !c.same {
			l.hub.publish(t.Context(), two, nil)
		}
		wantEvents(t, what, stream, c.want...)
	}
}

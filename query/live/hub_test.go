package live

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/query/live/events"
	"tonscribe/query/render"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// traceOf is a trace that a message from outside begins, of one transaction of each of some
// accounts, of which the first are in blocks, and the newest of these in the bundle that it
// is told with. The others are foreseen.
func traceOf(inBlocks, fresh int, accounts ...byte) *events.Trace {
	row := render.TraceRow{Trace: &record.Trace{Id: slices.Repeat([]byte{7}, 32), ExternalHashNorm: slices.Repeat([]byte{8}, 32)}, Tree: &trace.Tree{}, Foreseen: map[*record.Transaction]bool{}}
	var news []*record.Transaction
	for i, n := range accounts {
		kind := record.Message_INTERNAL
		if i == 0 {
			kind = record.Message_EXTERNAL_IN
		}
		account := address.Address{address.Size - 1: n}
		tx := &record.Transaction{Account: account[:], Lt: uint64(i + 1), Hash: slices.Repeat([]byte{n}, 32), InMsg: &record.Message{Kind: kind, Hash: slices.Repeat([]byte{n}, 32)}}
		row.Tree.Transactions = append(row.Tree.Transactions, tx)
		switch {
		case i >= inBlocks:
			row.Foreseen[tx] = true
		case i >= inBlocks-fresh:
			news = append(news, tx)
		}
	}
	row.Tree.Root = &trace.Node{Tx: row.Tree.Transactions[0]}
	return events.NewTrace(row, news)
}

// bundleOf is a bundle of a part of a trace, which is open or final.
func bundleOf(seqno uint32, t *events.Trace, open bool) *events.Bundle {
	if open {
		t.Row.Trace.PendingEdges = 1
	}
	return &events.Bundle{MCSeqno: seqno, Events: []*events.Event{{Kind: events.TransactionsKind, Position: events.Position{MCSeqno: seqno}, Of: t}}}
}

// foreseenWith are the traces of a bundle that go on as it is foreseen.
func foreseenWith(b *events.Bundle, whole *events.Trace) map[*events.Trace]*events.Trace {
	for tx := range whole.Fresh {
		whole.Fresh[tx] = true
	}
	return map[*events.Trace]*events.Trace{b.Events[0].Of: whole}
}

// foretell tells all streams what a message will do.
func foretell(t testing.TB, l *Component, of *events.Trace) {
	t.Helper()
	l.hub.hand(t.Context(), l.hub.matchesOfForeseen(of.Row, events.EndOf(l.hub.last), nil))
}

// got are the types and finalities of the events that a stream got.
func got(t testing.TB, c *conn) (list []string) {
	t.Helper()
	for _, i := range c.take().events {
		var e struct{ Type, Finality, Position string }
		if err := json.Unmarshal(i.raw, &e); err != nil {
			t.Fatal(err)
		}
		list = append(list, strings.TrimSpace(e.Type+" "+e.Finality+" "+e.Position))
	}
	return list
}

func wantEvents(t testing.TB, what string, c *conn, want ...string) {
	t.Helper()
	if list := got(t, c); !slices.Equal(list, want) {
		t.Errorf("%s gets %q, want %q", what, list, want)
	}
}

func ofAccount(n byte, finality string) string {
	return fmt.Sprintf(`{"types":["transactions"],"addresses":["%s"],"min_finality":"%s"}`, rawAddress(n), finality)
}

// What is foreseen only after a block has the first of it is not told to those who got that
// as final.
func TestTheFinalityOfATraceNeverFalls(t *testing.T) {
	l := newComponent(t, nil)
	c := subscribed(t, l, `{"types":["transactions"],"addresses":["`+rawAddress(1)+`","`+rawAddress(2)+`","`+rawAddress(3)+`"],"min_finality":"pending"}`)
	l.hub.publish(t.Context(), bundleOf(1, traceOf(1, 1, 1), true), nil)
	second := bundleOf(2, traceOf(2, 1, 1, 2), true)
	l.hub.publish(t.Context(), second, foreseenWith(second, traceOf(2, 1, 1, 2, 3)))
	wantEvents(t, "who got it as final first", c, "transactions finalized 1-0", "transactions finalized 2-0")
	foretell(t, l, traceOf(2, 1, 1, 2, 3)) // it is known late, and what came while nobody was there is not remembered
	wantEvents(t, "who got it as final", c)
	// One that was told of it before gets the rest with each part.
	l = newComponent(t, nil)
	c = subscribed(t, l, ofAccount(1, "pending"))
	foretell(t, l, traceOf(0, 0, 1, 2, 3))
	first, second := bundleOf(1, traceOf(1, 1, 1), true), bundleOf(2, traceOf(2, 1, 1, 2), true)
	l.hub.publish(t.Context(), first, foreseenWith(first, traceOf(1, 1, 1, 2, 3)))
	l.hub.publish(t.Context(), second, foreseenWith(second, traceOf(2, 1, 1, 2, 3)))
	l.hub.publish(t.Context(), bundleOf(3, traceOf(3, 1, 1, 2, 3), false), nil)
	wantEvents(t, "who was told of it before", c, "transactions pending 0", "transactions pending 1-0", "transactions pending 2-0", "transactions finalized 3-0")
}

// withAction is a trace of which an action concerns an account besides.
func withAction(of *events.Trace, n byte) *events.Trace {
	account := address.Address{address.Size - 1: n}
	transfer := action.TypeNamed("jetton_transfer")
	a := &action.Action{Type: transfer, Details: make([]action.Value, len(transfer.Details)), Accounts: []action.Address{account[:]}}
	of.Row.Actions = append(of.Row.Actions, render.ActionRow{Action: a, Trace: of.Row.Trace})
	return of
}

// An account that only the actions to come name has no transaction in any bundle.
func TestActionsToComeAreToldAnewWithEachBundleAlsoToWhomNoTransactionIsOf(t *testing.T) {
	actionsOf := func(finality string) string {
		return fmt.Sprintf(`{"types":["actions"],"addresses":["%s"],"min_finality":"%s"}`, rawAddress(9), finality)
	}
	l := newComponent(t, nil)
	before, final := subscribed(t, l, actionsOf("pending")), subscribed(t, l, actionsOf("finalized"))
	foretell(t, l, withAction(traceOf(0, 0, 1, 2, 3), 9))
	after := subscribed(t, l, actionsOf("pending"))
	first, second := bundleOf(1, traceOf(1, 1, 1), true), bundleOf(2, traceOf(2, 1, 1, 2), true)
	l.hub.publish(t.Context(), first, foreseenWith(first, withAction(traceOf(1, 1, 1, 2, 3), 9)))
	l.hub.publish(t.Context(), second, foreseenWith(second, withAction(traceOf(2, 1, 1, 2, 3), 9)))
	last := bundleOf(3, withAction(traceOf(3, 1, 1, 2, 3), 9), false)
	last.Events = append(last.Events, &events.Event{Kind: events.ActionsKind, Position: events.Position{MCSeqno: 3, Event: 1}, Of: last.Events[0].Of})
	l.hub.publish(t.Context(), last, nil)
	wantEvents(t, "who was there before the message", before, "actions pending 0", "actions pending 1-1", "actions pending 2-1", "actions finalized 3-1")
	wantEvents(t, "who came after it", after, "actions pending 1-1", "actions pending 2-1", "actions finalized 3-1")
	wantEvents(t, "who wants what is final", final, "actions finalized 3-1")
}

// What was foreseen may end where blocks have all of that, while the trace goes on.
func TestAPartThatIsFinalComesOnceWhereNothingMoreIsForeseen(t *testing.T) {
	l := newComponent(t, nil)
	c := subscribed(t, l, ofAccount(1, "pending"))
	first := bundleOf(1, traceOf(1, 1, 1), true)
	l.hub.publish(t.Context(), first, foreseenWith(first, traceOf(1, 1, 1)))
	l.hub.publish(t.Context(), bundleOf(2, traceOf(2, 1, 1, 2), true), nil)
	l.hub.publish(t.Context(), bundleOf(3, traceOf(3, 1, 1, 2, 3), false), nil)
	wantEvents(t, "who wants the first account", c, "transactions finalized 1-0")
}

// Who was told of what never comes is told so, also when the message was taken as foreseen.
func TestWhoWasToldOfAPartThatDoesNotComeIsToldSoWhenTheTraceIsFinal(t *testing.T) {
	l := newComponent(t, nil)
	sender, receiver, final := subscribed(t, l, ofAccount(1, "pending")), subscribed(t, l, ofAccount(9, "pending")), subscribed(t, l, ofAccount(9, "finalized"))
	moved := subscribed(t, l, ofAccount(9, "pending"))
	foretell(t, l, traceOf(0, 0, 1, 9))
	if err := moved.subscribe(subscriptionOf(t, ofAccount(5, "pending")), func(events.Position) []byte { return nil }); err != nil {
		t.Fatal(err)
	}
	l.hub.publish(t.Context(), bundleOf(1, traceOf(1, 1, 1), true), nil)
	wantEvents(t, "the receiver", receiver, "transactions pending 0")
	l.hub.publish(t.Context(), bundleOf(2, traceOf(2, 1, 1, 3), false), nil)
	wantEvents(t, "the receiver at the end", receiver, "trace_invalidated  1")
	wantEvents(t, "the sender", sender, "transactions pending 0", "transactions finalized 1-0", "transactions finalized 2-0")
	wantEvents(t, "who wants what is final", final)
	wantEvents(t, "who wants another account by then", moved, "transactions pending 0")
}

// A stream that fell behind meanwhile is told when it is up to the present again, unless it
// wants something else by then.
func TestWhoFellBehindIsToldOfAPartThatDoesNotComeWhenItHasTheRest(t *testing.T) {
	l := newComponent(t, nil)
	behind, moved, given := subscribed(t, l, ofAccount(9, "pending")), subscribed(t, l, ofAccount(9, "pending")), subscribed(t, l, ofAccount(9, "pending"))
	s := behind.subscription()
	foretell(t, l, traceOf(0, 0, 1, 9))
	for _, c := range []*conn{behind, moved, given} {
		wantEvents(t, "the receiver", c, "transactions pending 0")
		l.hub.replace(c, nil)
	}
	if !l.hub.foreseeing() {
		t.Error("what is foreseen is not wanted by who was told of it and is behind")
	}
	l.hub.publish(t.Context(), bundleOf(1, traceOf(1, 1, 1), true), nil)
	l.hub.publish(t.Context(), bundleOf(2, traceOf(2, 1, 1, 3), false), nil)
	wantEvents(t, "who is behind", behind)
	if err := moved.subscribe(subscriptionOf(t, ofAccount(5, "pending")), func(events.Position) []byte { return nil }); err != nil {
		t.Fatal(err)
	}
	l.hub.gotAgain(given, traceOf(0, 0, 1).Hash)
	for c, s := range map[*conn]*events.Subscription{behind: s, moved: moved.subscription(), given: s} {
		if err := l.hub.follow(t.Context(), c, s, nil, events.EndOf(2)); err != nil {
			t.Fatal(err)
		}
	}
	wantEvents(t, "who has the rest", behind, "trace_invalidated  2")
	wantEvents(t, "who wants another account by then", moved)
	wantEvents(t, "who got something of it again", given)
	l.hub.publish(t.Context(), bundleOf(3, traceOf(1, 1, 9), false), nil)
	wantEvents(t, "who has the rest, then", behind, "transactions finalized 3-0")
}

// A stream that is behind and unsubscribes from something is still told what becomes of
// what it was told.
func TestWhoWasToldIsToldThatItDoesNotComeAlsoAfterAnotherSubscription(t *testing.T) {
	for what, operation := range map[string]string{
		"unsubscribing while it is behind": `{"operation":"unsubscribe","addresses":["` + rawAddress(2) + `"]}`,
		"subscribing anew":                 `{"operation":"subscribe","types":["transactions"],"addresses":["` + rawAddress(1) + `"]}`,
	} {
		l := newComponent(t, nil)
		c := subscribed(t, l, `{"types":["transactions"],"addresses":["`+rawAddress(1)+`","`+rawAddress(2)+`"],"min_finality":"pending"}`)
		c.wanted = c.subscription()
		foretell(t, l, traceOf(0, 0, 1))
		wantEvents(t, what, c, "transactions pending 0")
		l.hub.replace(c, nil) // it is behind
		if !c.answerTo(&session{c: l, conn: c}, []byte(operation)) {
			t.Fatal("the stream ends")
		}
		<-c.catching.done
		l.hub.expire(time.Now().Add(time.Hour))
		wantEvents(t, what, c, "trace_invalidated  0")
	}
}

// Whoever goes on from the position of an answer gets what waited behind it.
func TestTheAnswerToAnOperationIsNotAheadOfWhatWaits(t *testing.T) {
	for _, operation := range []string{
		`{"operation":"unsubscribe","addresses":["` + rawAddress(2) + `"]}`,
		`{"operation":"subscribe","types":["transactions"],"addresses":["` + rawAddress(1) + `"]}`,
		`{"operation":"ping"}`,
	} {
		l := newComponent(t, nil)
		c := newConn(t.Context(), l, nil, events.Limits{Addresses: 10})
		s := &session{c: l, conn: c}
		c.answerTo(s, []byte(`{"operation":"subscribe","types":["transactions"],"addresses":["`+rawAddress(1)+`","`+rawAddress(2)+`"]}`))
		c.take()
		l.hub.publish(t.Context(), bundleOf(1, traceOf(1, 1, 1), false), nil)
		l.hub.publish(t.Context(), &events.Bundle{MCSeqno: 2}, nil)
		c.answerTo(s, []byte(operation))
		b := c.take()
		var answer struct{ Position string }
		if err := json.Unmarshal(b.answers[0], &answer); err != nil || len(b.events) != 1 {
			t.Fatalf("%d events, %v", len(b.events), err)
		}
		if at, err := events.ParsePosition(answer.Position); err != nil || at.Compare(b.events[0].position) >= 0 {
			t.Errorf("%s is answered behind %s, and %s comes then", operation, answer.Position, b.events[0].position)
		}
	}
}

// Another replica may have been faster: what the stream of a client that comes from there
// has already does not come again, and no position is before its own.
func TestPositionsNeverGoBackForWhoIsAheadOfThisReplica(t *testing.T) {
	l := newComponent(t, nil)
	c := newConn(t.Context(), l, nil, events.Limits{Addresses: 10})
	s := subscriptionOf(t, `{"types":["transactions"],"addresses":["`+rawAddress(1)+`","`+rawAddress(2)+`"],"min_finality":"pending"}`)
	c.wanted, c.delivered = s, events.EndOf(7)
	if _, joined := l.hub.join(t.Context(), c, s, events.EndOf(7)); !joined {
		t.Fatal("it is not ahead")
	}
	foretell(t, l, traceOf(0, 0, 1))
	wantEvents(t, "a stream", c, "transactions pending 7")
	c.answerTo(&session{c: l, conn: c}, []byte(`{"operation":"unsubscribe","addresses":["`+rawAddress(2)+`"]}`))
	if b := c.take(); len(b.answers) != 1 || string(b.answers[0]) != `{"status":"unsubscribed","position":"7"}` {
		t.Errorf("unsubscribing is answered by %s", b.answers)
	}
	l.hub.publish(t.Context(), bundleOf(5, traceOf(1, 1, 1), false), nil)
	wantEvents(t, "a stream that has all up to 7", c)
	l.hub.publish(t.Context(), bundleOf(8, traceOf(1, 1, 1), false), nil)
	wantEvents(t, "a stream that has all up to 7", c, "transactions finalized 8-0")
	next := traceOf(0, 0, 1)
	next.Row.ExternalHashNorm = slices.Repeat([]byte{9}, 32)
	next.All[0].PrevTransLt = next.All[0].Lt
	foretell(t, l, next)
	wantEvents(t, "a stream that has all up to 8", c, "transactions pending 8")
	c.delivered = events.EndOf(9)
	l.hub.expire(time.Now().Add(time.Hour))
	wantEvents(t, "a stream that has all up to 9", c, "trace_invalidated  9")
}

// Whoever reads all of the past takes no room of the newest bundles, which those need that
// are behind for a moment.
func TestTheNewestBundlesStayWhileThePastIsRead(t *testing.T) {
	l := newComponent(t, func(c *Configuration) { c.HistoryBytes = 10_000 })
	const newest = 1000
	reads := map[uint32]int{}
	read := func(in *history, seqno uint32) {
		t.Helper()
		if _, err := in.get(seqno, func() (*events.Bundle, error) {
			reads[seqno]++
			b := &events.Bundle{MCSeqno: seqno}
			b.Bytes.Store(1000)
			return b, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for seqno := uint32(newest - 5); seqno <= newest; seqno++ {
		read(&l.hub.history, seqno)
	}
	for range 2 { // streams beside each other
		for seqno := uint32(1); seqno <= newest; seqno++ {
			read(l.hub.historyOf(seqno), seqno)
			if seqno > 4 {
				read(l.hub.historyOf(seqno-4), seqno-4)
			}
		}
	}
	for seqno, n := range reads {
		want := 2
		if seqno >= newest-5 {
			want = 1
		}
		if n != want {
			t.Fatalf("bundle %d is read %d times, want %d", seqno, n, want)
		}
	}
}

// An event is rendered once for many, but not by somebody who goes meanwhile: what is known
// of addresses would be missing for all.
func TestWhatIsReadForAClientThatGoesIsReadAgainForOthers(t *testing.T) {
	l := newComponent(t, nil)
	failures := 0
	known := events.Books{Index: &l.index, Fail: func(error) { failures++ }}
	e := bundleOf(1, traceOf(1, 1, 1), false).Events[0]
	s := subscriptionOf(t, `{"types":["transactions"],"include_address_book":true}`)
	chosen, _ := e.Chosen(s, false)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	e.Render(gone, known, s, chosen)
	if failures != 0 {
		t.Errorf("a client that goes makes %d failures, want 0", failures)
	}
	failures = 0
	e.Render(t.Context(), known, s, chosen)
	if failures != 1 {
		t.Errorf("for who comes then %d attempts are made to read what is known, want 1", failures)
	}
}

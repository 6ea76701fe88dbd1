package query

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/kafka"
	"tonscribe/query/live/events"
	"tonscribe/schema/record"
)

// tellingLog is a log that tells what messages will do when a test wants it.
type tellingLog struct {
	told
	more chan *record.PendingTrace
}

func (l tellingLog) Watch(ctx context.Context, _ string, _ int, take func(kafka.Item)) error {
	for {
		select {
		case t := <-l.more:
			take(kafka.Item{Record: &record.Record{Content: &record.Record_Pending{Pending: t}}})
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// normal is the hash that events name a pending trace by.
func normal(p *record.PendingTrace) string {
	in := p.Transactions[0].InMsg
	if len(in.HashNorm) > 0 {
		return b64(in.HashNorm)
	}
	return b64(in.Hash)
}

func TestWhatIsForeseenIsToldAndComesOrIsInvalidated(t *testing.T) {
	t.Parallel()
	x := &traced{txs: map[string]*record.Transaction{}, steps: map[string]*record.TraceStep{}, traces: map[string][]*record.TraceStep{}}
	s := newStreamWorld(t)
	traces := synthetic.NewTraces()
	begins := map[string]int{}
	for i, b := range s.bundles {
		for _, tx := range b.Transactions {
			x.txs[string(tx.Hash)] = tx
			begins[string(tx.Hash)] = i
		}
		for _, r := range traces.Records(b, 1)[0] {
			for _, step := range r.GetTraces().GetTraces() {
				x.steps[string(step.Trace.Id)] = step
				x.traces[string(step.Trace.Id)] = append(x.traces[string(step.Trace.Id)], step)
			}
		}
	}
	_, closed := x.fromOutside()
	var coming []*record.TraceStep // whose roots are in bundles that are not there yet
	for _, step := range closed {
		// Another message to the same account that comes before takes its place.
		overtaken := slices.ContainsFunc(s.bundles[s.from:max(s.from, begins[string(step.Trace.Id)]+1)], func(b *synthetic.Bundle) bool {
			return slices.ContainsFunc(b.Transactions, func(tx *record.Transaction) bool {
				return tx.InMsg.GetKind() == record.Message_EXTERNAL_IN && bytes.Equal(tx.Account, x.txs[string(step.Trace.Id)].Account) && !bytes.Equal(tx.Hash, step.Trace.Id)
			})
		})
		if begins[string(step.Trace.Id)] > s.from+3 && !overtaken {
			coming = append(coming, step)
		}
	}
	if len(coming) < 4 {
		t.Fatalf("%d traces begin outside and end in time", len(coming))
	}
	asForeseen, _ := x.foreseen(coming[0])
	otherwise, _ := x.foreseen(coming[1])
	root := otherwise.Transactions[0]
	root.Aborted = !root.Aborted
	never, _ := x.foreseen(coming[2])
	never.Transactions[0].InMsg.Hash, never.Transactions[0].InMsg.HashNorm = newHash(1), newHash(2)
	never.Transactions[0].Account = append(root.Account[:4:4], newHash(3)...)
	// One that was sent again is foreseen as it comes then, and was not at first.
	mended, _ := x.foreseen(coming[3])
	before := mended.CloneVT()
	before.Time -= 60
	before.Transactions[0].Aborted = !before.Transactions[0].Aborted
	t.Run("what may still come", func(t *testing.T) { whatMayStillComeIsToldToWhoAsks(t, s, asForeseen, never) })
	t.Run("what does not come", func(t *testing.T) { whatDoesNotComeIsInvalidated(t, s, never) })
	log := tellingLog{more: make(chan *record.PendingTrace)}
	s.growing.shared = log
	server := s.growing.serve(t, func(c *Configuration) {
		manyStreams(c)
		c.Live.PendingDeadline, c.Live.Queue, c.Live.WriteTimeout = time.Hour, 8, time.Minute
	})
	server.await(s.bundles[s.from-1].Seqno)
	at := server.listening()
	all, _ := server.open(at, map[string]any{"types": chainTypes, "min_finality": "pending"})
	final, _ := server.open(at, map[string]any{"types": []string{"transactions", "account_state_change"}})
	all.next()
	final.next()
	last := lastState(s.bundles[len(s.bundles)-1])
	history := map[string][]string{}
	take := func(e *streamEvent) {
		history[e.Trace] = append(history[e.Trace], e.Type+" "+e.Finality)
	}
	for _, p := range []*record.PendingTrace{asForeseen, otherwise, before, mended} {
		log.more <- p
		want := normal(p)
		for {
			e := all.next()
			if take(e); e.Trace != want || e.Finality != "pending" {
				t.Fatalf("%s comes, want what is foreseen of %s", e.raw[:min(300, len(e.raw))], want)
			}
			if p, err := events.ParsePosition(e.Position); err != nil || p.MCSeqno != s.bundles[s.from-1].Seqno {
				t.Errorf("what is foreseen has the position %s", e.Position)
			}
			if e.Type == "trace" {
				break
			}
		}
	}
	go s.grow()
	for _, e := range final.until(last) {
		if e.Finality != "finalized" {
			t.Errorf("who wants what is final gets %s", e.raw[:min(300, len(e.raw))])
		}
	}
	for _, e := range all.until(last) {
		take(e)
	}
	check := func(what string, p *record.PendingTrace, invalidated bool) {
		t.Helper()
		list := history[normal(p)]
		seenFinal, seenInvalid := false, false
		for _, e := range list {
			switch {
			case strings.HasPrefix(e, "trace_invalidated"):
				seenInvalid = true
			case strings.HasSuffix(e, " finalized"):
				seenFinal = true
			case seenFinal:
				t.Errorf("%s: %s comes behind what is final: %q", what, e, list)
			}
		}
		if seenInvalid != invalidated || !seenFinal {
			t.Errorf("%s: %q", what, list)
		}
	}
	check("as it was foreseen", asForeseen, false)
	check("otherwise", otherwise, true)
	check("sent again", mended, false)
}

// What is foreseen of the traces of a bundle is read together, and only where a stream wants
// it: the others do not wait for it.
func TestWhatIsForeseenOfABundleIsReadTogetherAndOnlyForThoseWhoWantIt(t *testing.T) {
	t.Parallel()
	// statements is how many look for transactions, and open how many of the traces that are
	// foreseen go on behind each bundle.
	statements := func(t *testing.T, finality string, foreseen bool) (n uint64, open map[uint32]int) {
		s := newStreamWorld(t)
		x := tracedBy(s.bundles)
		var all told
		open = map[uint32]int{}
		for _, last := range x.inOrder() {
			if x.txs[string(last.Trace.Id)].InMsg.GetKind() != record.Message_EXTERNAL_IN || last.Trace.McSeqnoStart <= s.bundles[s.from-1].Seqno {
				continue
			}
			p, _ := x.foreseen(last)
			all = append(all, p)
			for _, step := range x.traces[string(last.Trace.Id)] {
				if step.Trace.PendingEdges > 0 {
					open[step.Trace.McSeqnoEnd]++
				}
			}
		}
		if foreseen {
			s.growing.shared = all
		}
		server := s.growing.serve(t, func(c *Configuration) {
			manyStreams(c)
			c.Live.PendingDeadline, c.Live.Queue, c.Live.QueueBytes, c.Live.AllQueuedBytes = time.Hour, 1<<20, 1<<30, 1<<30
			c.Pending.MaxPerAccount = len(all)
		})
		server.await(s.bundles[s.from-1].Seqno)
		for limit := time.Now().Add(time.Minute); foreseen && server.counter(t, "tonscribe_pending_traces") < float64(len(all)); time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("%v of %d traces are held", server.counter(t, "tonscribe_pending_traces"), len(all))
			}
		}
		stream, _ := server.open(server.listening(), map[string]any{"types": chainTypes, "min_finality": finality})
		stream.next()
		go s.grow()
		stream.until(lastState(s.bundles[len(s.bundles)-1]))
		return server.lookUps(t, "transactions"), open
	}
	var none, final, pending uint64
	var open map[uint32]int
	t.Run("nothing is foreseen", func(t *testing.T) { none, _ = statements(t, "pending", false) })
	t.Run("for what is final", func(t *testing.T) { final, _ = statements(t, "finalized", true) })
	t.Run("for what is foreseen", func(t *testing.T) { pending, open = statements(t, "pending", true) })
	traces := 0
	for _, n := range open {
		traces += n
	}
	t.Logf("%d statements where nothing is foreseen, %d for what is final, %d for what is foreseen of %d traces in %d bundles", none, final, pending, traces, len(open))
	switch bundles := uint64(len(open)); {
	case final >= none+bundles:
		t.Errorf("%d statements for a stream of what is final, want %d as where nothing is foreseen", final, none)
	case uint64(traces) < 2*bundles:
		t.Fatalf("%d traces go on behind %d bundles: the test proves nothing", traces, bundles)
	case pending <= none:
		t.Fatalf("%d statements for what is foreseen, %d where nothing is: the test proves nothing", pending, none)
	case pending >= none+2*bundles:
		t.Errorf("%d statements for what is foreseen of %d traces in %d bundles, want one more for each bundle than %d", pending, traces, bundles, none)
	}
}

// tracedBy are the traces of some bundles.
func tracedBy(bundles []*synthetic.Bundle) *traced {
	x := &traced{txs: map[string]*record.Transaction{}, steps: map[string]*record.TraceStep{}, traces: map[string][]*record.TraceStep{}}
	traces := synthetic.NewTraces()
	for _, b := range bundles {
		for _, tx := range b.Transactions {
			x.txs[string(tx.Hash)] = tx
		}
		for _, r := range traces.Records(b, 1)[0] {
			for _, step := range r.GetTraces().GetTraces() {
				x.steps[string(step.Trace.Id)] = step
				x.traces[string(step.Trace.Id)] = append(x.traces[string(step.Trace.Id)], step)
			}
		}
	}
	return x
}

// Who was told of a message that no block has in time is told that it does not come.
func whatDoesNotComeIsInvalidated(t *testing.T, s *streamWorld, never *record.PendingTrace) {
	log := tellingLog{more: make(chan *record.PendingTrace)}
	s.growing.shared = log
	server := s.growing.serve(t, func(c *Configuration) { manyStreams(c); c.Live.PendingDeadline = 2 * time.Second })
	server.await(s.bundles[s.from-1].Seqno)
	at := server.listening()
	open := func(finality string) *stream {
		one, _ := server.open(at, map[string]any{"types": []string{"transactions"}, "min_finality": finality})
		one.next()
		return one
	}
	told, confirmed := open("pending"), open("confirmed")
	late := never.CloneVT() // another replica tells of it when its time is over
	late.Time -= 60
	log.more <- late
	never.Time += 60 // by a clock that is ahead, it is sent now
	sentAgain := never.CloneVT()
	sentAgain.Time += 60
	for _, p := range []*record.PendingTrace{never, sentAgain} {
		log.more <- p
		if e := told.next(); e.Type != "transactions" || e.Finality != "pending" || e.Trace != normal(never) {
			t.Errorf("first comes %.300s", e.raw)
		}
		if e := told.next(); e.Type != "trace_invalidated" || e.Finality != "" || e.Trace != normal(never) {
			t.Errorf("then comes %.300s", e.raw)
		}
	}
	server.component.Drain()
	for what, stream := range map[string]*stream{"who was told": told, "who asked for what is confirmed": confirmed} {
		if e := stream.next(); e != nil {
			t.Errorf("%s gets %.300s", what, e.raw)
		}
	}
}

// Who asks for what is new gets what messages will do that were sent before.
func whatMayStillComeIsToldToWhoAsks(t *testing.T, s *streamWorld, coming ...*record.PendingTrace) {
	s.growing.shared = told(coming)
	server := s.growing.serve(t, manyStreams)
	server.await(s.bundles[s.from-1].Seqno)
	at := server.listening()
	for _, c := range []struct {
		finality string
		tells    bool
	}{{"pending", true}, {"confirmed", false}, {"finalized", false}} {
		stream, _ := server.open(at, map[string]any{"types": []string{"transactions", "trace"}, "min_finality": c.finality, "replay_existing": true})
		stream.next()
		if !c.tells {
			for _, e := range stream.until(events.Position{MCSeqno: s.bundles[s.from-1].Seqno}) {
				if e.Finality != "finalized" {
					t.Errorf("%s comes to who asks for %s", e.raw[:min(300, len(e.raw))], c.finality)
				}
			}
			continue
		}
		for left := len(coming); left > 0; {
			e := stream.next()
			if e.Finality == "pending" && e.Type == "trace" {
				if !slices.ContainsFunc(coming, func(p *record.PendingTrace) bool { return normal(p) == e.Trace }) {
					t.Errorf("nobody sent %s", e.Trace)
				}
				left--
			}
		}
		stream.cancel()
	}
}

package metadata

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// work is a process's turn. One goroutine owns it; others fetch and tell.
type work struct {
	*Component
	turn    *turn
	reading reading
	begun   int64 // ns, makes tokens unique
	inserts int

	lanes    map[uint16]*lane
	waiting  []*lane           // with something to fetch, and no request too many
	held     map[hash]struct{} // read, and what became of them is not written
	fetching int
	ended    []outcome
	size     int // bytes of documents in ended

	outcomes chan outcome
	rested   chan *lane
	fetches  sync.WaitGroup
}

// outcome is what became of a link that was due.
type outcome struct {
	fetch
	at       time.Time
	document string
	problem  *Failure // nil when there is a document
}

// Bounds of what is in hand.
const (
	mostHeld    = hostLanes // links
	mostEnded   = 500       // outcomes that are written at once
	mostSize    = 4 << 20   // bytes of their documents
	mostFilled  = 64        // lanes that are filled before something else has its turn
	closingTime = 5 * time.Second
)

// work fetches until it is another process's turn, ctx ends, or ClickHouse
// fails.
func (c *Component) work(ctx context.Context, t *turn) (err error) {
	fetching, cancel := context.WithCancel(ctx)
	w := &work{
		Component: c, turn: t, begun: time.Now().UnixNano(), reading: reading{mcSeqno: t.mcSeqno + 1},
		lanes: map[uint16]*lane{}, held: map[hash]struct{}{}, outcomes: make(chan outcome), rested: make(chan *lane),
	}
	defer func() {
		cancel()
		w.fetches.Wait()
		if err == nil || ctx.Err() != nil {
			err = w.close(context.WithoutCancel(ctx))
		}
		w.tell(0)
	}()
	if err := w.wakes(ctx); err != nil {
		return err
	}
	c.report.Log.Info().Str("worker", c.name).Uint32("bundle", t.mcSeqno).Msg("fetching documents")
	poll := time.NewTimer(0)
	defer poll.Stop()
	for due := true; ; {
		if due {
			if mine, err := w.look(ctx); err != nil || !mine {
				return err
			}
			poll.Reset(c.configuration.Poll)
		}
		more, err := w.fillLanes(ctx)
		if err != nil {
			return err
		}
		w.dispatch(fetching)
		due = false
		select {
		case <-atOnce(more):
		case <-ctx.Done():
			return nil
		case o := <-w.outcomes:
			w.take(o)
		case l := <-w.rested:
			l.active--
			w.line(l)
		case <-poll.C:
			due = true
		}
		if len(w.ended) >= mostEnded || w.size >= mostSize {
			if err := w.write(ctx); err != nil {
				return err
			}
		}
	}
}

// look is what is done now and then: writing, finding links, and showing that
// the process is there. mine is false when it is another one's turn.
func (w *work) look(ctx context.Context) (mine bool, err error) {
	if err := w.write(ctx); err != nil {
		return false, err
	}
	if w.turn.late() {
		if mine, err := w.turn.take(ctx); err != nil || !mine {
			return false, err
		}
	}
	w.tell(1)
	return true, w.find(ctx)
}

// atOnce is a channel that has something, or never will.
func atOnce(yes bool) <-chan struct{} {
	if !yes {
		return nil
	}
	return closed
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// close writes what was fetched before the end.
func (w *work) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closingTime)
	defer cancel()
	return w.write(ctx)
}

func (w *work) lane(number uint16) *lane {
	l := w.lanes[number]
	if l == nil {
		l = &lane{number: number, wake: Never}
		w.lanes[number] = l
	}
	return l
}

// fillLanes gives lanes that have nothing to do what is due. more says that it
// has not seen them all.
func (w *work) fillLanes(ctx context.Context) (more bool, err error) {
	now, filled := seconds(time.Now()), 0
	for _, l := range w.lanes {
		if len(l.jobs) > 0 || len(l.stretches) == 0 && l.wake > now {
			continue
		}
		if len(w.held) >= mostHeld {
			return false, nil // until some of it is done
		}
		if filled++; filled > mostFilled {
			return true, nil
		}
		if err := w.fill(ctx, l, l.most()); err != nil {
			return false, err
		}
		w.line(l)
		more = more || len(l.jobs) == 0 && len(l.stretches) > 0
	}
	return more, nil
}

// line makes a lane wait for a worker if it needs one and may have one.
func (w *work) line(l *lane) {
	most := w.configuration.HostRequests
	if l.number == LaneInLink {
		most = w.configuration.Workers
	}
	if !l.queued && len(l.jobs) > 0 && l.active < most {
		l.queued = true
		w.waiting = append(w.waiting, l)
	}
}

// dispatch begins to fetch, one link of each lane in turn.
func (w *work) dispatch(ctx context.Context) {
	for w.fetching < w.configuration.Workers && len(w.waiting) > 0 {
		l := w.waiting[0]
		w.waiting = w.waiting[1:]
		f := l.jobs[0]
		l.jobs = l.jobs[1:]
		l.queued = false
		l.active++
		w.fetching++
		w.fetches.Add(1)
		go w.fetch(ctx, l, f, l.failures)
		w.line(l)
	}
}

// fetch fetches a link, tells, and lets its host rest.
func (w *work) fetch(ctx context.Context, l *lane, f fetch, failures int) {
	defer w.fetches.Done()
	o := w.try(ctx, f)
	select {
	case w.outcomes <- o:
	case <-ctx.Done():
		return
	}
	if rest := rest(f.lane, w.configuration.HostPause, failures, o.problem); rest > 0 && !wait(ctx, rest) {
		return
	}
	select {
	case w.rested <- l:
	case <-ctx.Done():
	}
}

func (w *work) try(ctx context.Context, f fetch) outcome {
	begun := time.Now()
	o := outcome{fetch: f}
	document, err := w.fetcher.Fetch(ctx, f.link)
	if err == nil {
		o.document, err = document.kept()
	}
	if err != nil && !errors.As(err, &o.problem) {
		o.problem = &Failure{Reason: ReasonNetwork, Err: err} // ctx ended; nobody takes it
	}
	o.at = time.Now()
	w.metrics.seconds.Observe(o.at.Sub(begun).Seconds())
	return o
}

// take notes what became of a link.
func (w *work) take(o outcome) {
	w.fetching--
	l := w.lane(o.lane)
	result := "ok"
	if o.problem != nil {
		result = o.problem.Reason
	}
	if o.problem != nil && o.problem.Busy {
		l.failures++
	} else {
		l.failures = 0
	}
	w.metrics.documents.WithLabelValues(result).Inc()
	w.metrics.bytes.Add(float64(len(o.document)))
	w.ended = append(w.ended, o)
	w.size += len(o.document)
}

// write writes what became of links: first the documents, then that they need
// not be fetched.
func (w *work) write(ctx context.Context) error {
	if len(w.ended) == 0 {
		return nil
	}
	var documents []row
	fetches := make([]fetch, len(w.ended))
	for i := range w.ended {
		o := &w.ended[i]
		fetches[i] = o.next(w.configuration)
		fetches[i].due = max(fetches[i].due, w.lane(o.lane).soon())
		// A document that was had before stays.
		if o.problem == nil || !o.had {
			documents = append(documents, row{o.hash, o.link, fetches[i].tried, fetches[i].failure, o.document})
		}
	}
	if err := w.writeDocuments(ctx, documents); err != nil {
		return err
	}
	if err := w.writeFetches(ctx, fetches); err != nil {
		return err
	}
	for i := range fetches {
		delete(w.held, fetches[i].hash)
	}
	clear(w.ended)
	w.ended, w.size = w.ended[:0], 0
	return nil
}

// next is how a link stands after it was tried.
func (o *outcome) next(c Configuration) fetch {
	f := o.fetch
	f.tried = max(uint64(o.at.UnixMilli()), o.tried+1)
	pause := c.Refresh
	if o.problem == nil {
		f.failure, f.attempts, f.had = "", 0, true
	} else {
		f.failure = shortened(o.problem.Error())
		f.attempts++
		if !o.problem.Final {
			pause = retryAfter(c, f.attempts)
		}
	}
	f.due = seconds(o.at.Add(spread(pause, f.hash[0])))
	if o.problem == nil && f.lane == LaneInLink {
		f.due = Never // it is all in the link
	}
	return f
}

// retryAfter is the pause after so many failures in a row.
func retryAfter(c Configuration, attempts uint32) time.Duration {
	pause := c.Retry
	for ; attempts > 1 && pause < c.Refresh; attempts-- {
		pause *= 2
	}
	return min(pause, c.Refresh)
}

// spread makes a pause up to a tenth longer, so that what was tried together is
// not tried together again. It is at least a second: due times have no less.
func spread(pause time.Duration, by byte) time.Duration {
	return max(pause+pause/2560*time.Duration(by), time.Second)
}

// longestFailure is what is kept of a failure's text.
const longestFailure = 300

func shortened(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), longestFailure)], "")
}

// tell sets the gauges.
func (w *work) tell(works float64) {
	hosts := 0
	for _, l := range w.lanes {
		if len(l.jobs) > 0 || len(l.stretches) > 0 || l.active > 0 {
			hosts++
		}
	}
	w.metrics.works.Set(works)
	w.metrics.held.Set(float64(len(w.held)))
	w.metrics.hosts.Set(float64(hosts))
}

package metadata

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"tonscribe/internal/dispatch"
)

// work is what a process does while it has the lease. It is the store of a queue
// of links, whose destinations are the queues of hosts.
type work struct {
	*Component
	lease   *lease
	queue   *dispatch.Queue[uint16, hash, outcome]
	cursor  linkCursor
	begun   int64 // ns, makes tokens unique
	inserts int
	hosts   map[uint16]*host
}

type item = dispatch.Item[uint16, hash, outcome]

// outcome is what became of a link that was due.
type outcome struct {
	fetch
	at       time.Time
	document string
	problem  *Failure // nil when there is a document
}

// Bounds of what is in hand.
const (
	maxHeld          = hostQueues // links
	maxHeldBytes     = 16 << 20   // of these, and of documents
	maxWritten       = 500        // outcomes that are written at once
	maxWrittenBytes  = 4 << 20    // of their documents
	maxAhead         = 32         // links of a host
	maxAheadInLink   = 500
	maxPause         = time.Minute // of a host that does not answer
	maxPauseAsked    = 10 * time.Minute
	maxPauseMultiple = 512 // of host_pause
)

// work fetches until another process has the lease, ctx ends, or ClickHouse
// fails.
func (c *Component) work(ctx context.Context, l *lease) error {
	w := &work{Component: c, lease: l, begun: time.Now().UnixNano(), cursor: linkCursor{mcSeqno: l.mcSeqno + 1}, hosts: map[uint16]*host{}}
	w.queue = dispatch.New(c.configuration.queue(), w, w.try)
	defer w.measure(0)
	if err := w.restore(ctx); err != nil {
		return err
	}
	c.report.Log.Info().Str("worker", c.name).Uint32("bundle", l.mcSeqno).Msg("fetching documents")
	inWork, end := context.WithCancel(ctx)
	defer end()
	group, inGroup := errgroup.WithContext(inWork)
	group.Go(func() error {
		if err := c.runDumps(inGroup); inGroup.Err() == nil {
			return err
		}
		return nil // what was under way was broken off
	})
	group.Go(func() error {
		defer end() // another process may have the lease
		return w.queue.Run(inGroup)
	})
	return group.Wait()
}

func (c Configuration) queue() dispatch.Options[uint16] {
	return dispatch.Options[uint16]{
		Limits: func(queue uint16) dispatch.Limits {
			if queue == QueueInLink {
				return dispatch.Limits{Parallel: c.Workers, Ahead: maxAheadInLink}
			}
			return dispatch.Limits{Parallel: c.HostRequests, Ahead: maxAhead, Pause: c.HostPause}
		},
		Parallel: c.Workers, Unproven: max(1, c.Workers/2), Items: maxHeld, Bytes: maxHeldBytes, WriteItems: maxWritten, WriteBytes: maxWrittenBytes, Poll: c.Poll,
		Busy:     dispatch.Backoff{First: 2 * c.HostPause, Max: min(maxPauseMultiple*c.HostPause, maxPause)},
		MaxAfter: maxPauseAsked,
	}
}

func (w *work) host(number uint16) *host {
	h := w.hosts[number]
	if h == nil {
		h = &host{number: number, due: Never}
		w.hosts[number] = h
	}
	return h
}

// Poll keeps the lease and finds links.
func (w *work) Poll(ctx context.Context) error {
	if w.lease.late() {
		mine, err := w.lease.take(ctx)
		if err != nil {
			return err
		}
		if !mine {
			return dispatch.ErrEnd
		}
	}
	w.measure(1)
	return w.find(ctx)
}

// try fetches a link.
func (w *work) try(ctx context.Context, i *item) dispatch.Result {
	begun, o := time.Now(), &i.Value
	document, err := w.fetcher.Fetch(ctx, o.link)
	if err == nil {
		o.document, err = document.kept()
	}
	if err != nil && !errors.As(err, &o.problem) {
		o.problem = &Failure{Reason: ReasonNetwork, Err: err} // ctx ended; it does not count
	}
	o.at = time.Now()
	i.Size += len(o.document)
	w.metrics.seconds.Observe(o.at.Sub(begun).Seconds())
	if o.problem == nil {
		return dispatch.Result{}
	}
	return dispatch.Result{Busy: o.problem.Busy, After: o.problem.After}
}

// Write writes what became of links: first the documents, then that they need
// not be fetched.
func (w *work) Write(ctx context.Context, tried []*item) error {
	var documents []row
	fetches := make([]fetch, len(tried))
	for n, i := range tried {
		o := &i.Value
		result := "ok"
		if o.problem != nil {
			result = o.problem.Reason
		}
		w.metrics.documents.WithLabelValues(result).Inc()
		w.metrics.bytes.Add(float64(len(o.document)))
		f := o.next(w.configuration)
		f.due = max(f.due, w.host(f.queue).soon())
		if f.due < Never {
			i.Due = timeOf(f.due)
		}
		fetches[n] = f
		// A document that was had before stays.
		if o.problem == nil || !o.had {
			documents = append(documents, row{o.hash, o.link, f.tried, f.failure, o.document})
		}
	}
	if err := w.writeDocuments(ctx, documents); err != nil {
		return err
	}
	return w.writeFetches(ctx, fetches)
}

// next is how a link stands after it was tried.
func (o *outcome) next(c Configuration) fetch {
	f := o.fetch
	f.tried = max(uint64(o.at.UnixMilli()), o.tried+1)
	pause := dispatch.Jittered(c.Refresh)
	if o.problem == nil {
		f.failure, f.attempts, f.had = "", 0, true
	} else {
		f.failure = shortened(o.problem.Error())
		f.attempts++
		if !o.problem.Final {
			pause = dispatch.Backoff{First: c.Retry, Max: c.Refresh}.After(int(f.attempts))
		}
	}
	f.due = uint32(o.at.Add(max(pause, time.Second)).Unix()) // due times have no less
	if o.problem == nil && f.queue == QueueInLink {
		f.due = Never // it is all in the link
	}
	return f
}

// maxFailure is what is kept of a failure's text.
const maxFailure = 300

func shortened(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxFailure)], "")
}

// measure sets the gauges.
func (w *work) measure(works float64) {
	w.metrics.works.Set(works)
	w.metrics.held.Set(float64(w.queue.Held()))
	w.metrics.hosts.Set(float64(w.queue.Waiting()))
}

package lite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/ton"
)

// outcome is what one server made of a request.
type outcome struct {
	server *server
	answer any
	err    error
}

// race is the course of one query.
type race struct {
	pool     *Pool
	query    Query
	tried    map[*server]bool
	running  int
	outcomes chan outcome
	group    sync.WaitGroup

	second *waiter // for a second server, nil when none is waited for

	refused []outcome // by the check
	denied  []error   // errors that servers gave
	failed  []string  // no answer
}

func (r *race) run(ctx context.Context) (any, string, error) {
	hedge := time.NewTimer(0)
	defer hedge.Stop()
	hedge.Stop()
	for {
		if r.running == 0 {
			r.dropSecond()
			if err := r.next(ctx, hedge); err != nil {
				return nil, "", err
			}
		}
		select {
		case <-r.pool.ctx.Done():
			return nil, "", errStopped
		case <-ctx.Done():
			return nil, "", r.gaveUp(ctx)
		case <-hedge.C:
			r.seekSecond(hedge)
		case s := <-r.slotOfSecond():
			r.second = nil
			r.start(ctx, s, hedge)
			r.pool.metrics.hedges.Inc()
		case o := <-r.outcomes:
			r.running--
			if o.err == nil {
				o.err = r.check(o)
			}
			if o.err == nil {
				for _, refused := range r.refused {
					r.pool.strike(refused.server, refused.err)
				}
				r.pool.metrics.requests.WithLabelValues(o.server.host, "ok").Inc()
				noteAnswer(ctx, o.server)
				return o.answer, o.server.host, nil
			}
			r.note(ctx, o)
		}
	}
}

// next starts with another server, or tells why there is none. While all that
// could be asked have enough to do it waits for its turn, and while every server
// is out of reach for one of them.
func (r *race) next(ctx context.Context, hedge *time.Timer) error {
	for {
		changed := r.pool.chain.changes()
		if len(r.denied) < r.pool.configuration.Attempts || r.askArchives() {
			servers := r.candidates()
			if len(servers) == 0 && r.askArchives() {
				servers = r.candidates()
			}
			if len(servers) > 0 {
				s, err := r.slot(ctx, servers)
				if err == nil && s == nil {
					continue
				}
				if err == nil {
					r.start(ctx, s, hedge)
				}
				return err
			}
		}
		if err := r.verdict(); err != nil {
			return err
		}
		if err := r.pause(ctx, changed); err != nil {
			return err
		}
		clear(r.tried) // those without an answer get another try
	}
}

// pause waits until something has changed: the chain, or after a moment servers
// that were busy or cooled off.
func (r *race) pause(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return r.gaveUp(ctx)
	case <-r.pool.ctx.Done():
		return errStopped
	case <-changed:
	case <-time.After(50 * time.Millisecond):
	}
	return nil
}

// slot takes a slot at one of the servers, now or when it is the request's turn.
// It gives none when the servers that could be asked are others by now.
func (r *race) slot(ctx context.Context, servers []*server) (*server, error) {
	if s := r.pool.slots.try(servers); s != nil {
		return s, nil
	}
	w := r.pool.slots.join(r.takes)
	timer := time.NewTicker(50 * time.Millisecond)
	defer timer.Stop()
	for {
		select {
		case s := <-w.got:
			return s, nil
		case <-timer.C: // servers come and go without giving slots back
			s := r.pool.slots.try(r.candidates())
			if s == nil && slices.ContainsFunc(servers, r.takes) {
				continue
			}
			r.pool.slots.leave(w)
			return s, nil
		case <-ctx.Done():
			r.pool.slots.leave(w)
			return nil, r.gaveUp(ctx)
		case <-r.pool.ctx.Done():
			r.pool.slots.leave(w)
			return nil, errStopped
		}
	}
}

// askArchives turns to servers that keep old blocks when the others do not have
// what was asked for.
func (r *race) askArchives() bool {
	if len(r.denied) == 0 || r.query.Archival || !IsMissing(r.denied[len(r.denied)-1]) {
		return false
	}
	r.query.Archival = true
	return true
}

// verdict is the error that all servers together gave, if they gave one.
func (r *race) verdict() error {
	switch {
	case len(r.denied) > 0:
		return r.denied[len(r.denied)-1]
	case len(r.refused) > 0:
		last := r.refused[len(r.refused)-1]
		return fmt.Errorf("%w: %s: %w", ErrRefused, last.server.host, last.err)
	case len(r.denied) == 0 && r.query.Archival && r.pool.connections() > 0 && r.pool.archives() == 0:
		return ErrNoArchive
	}
	return nil
}

// takes reports whether a slot at a server is of use.
func (r *race) takes(s *server) bool { return slices.Contains(r.candidates(), s) }

// muchSlower is how many times longer than at the best server an answer may take
// at one that is asked. Others are left alone, however little they have to do.
const muchSlower = 4

// candidates are the servers that were not asked yet, the best first.
func (r *race) candidates() []*server {
	return r.pool.ranked(r.query, func(s *server) bool { return !r.tried[s] }, muchSlower)
}

// seekSecond waits for a slot for a second server, because the first takes
// longer than it usually does.
func (r *race) seekSecond(hedge *time.Timer) {
	if r.query.Once || r.second != nil {
		return
	}
	if !r.pool.hedges.spend() { // other requests earn more
		hedge.Reset(r.pool.configuration.HedgeMin)
		return
	}
	if s := r.pool.slots.try(r.candidates()); s != nil {
		r.second = &waiter{got: make(chan *server, 1)}
		r.second.got <- s
		return
	}
	r.second = r.pool.slots.join(r.takes)
}

func (r *race) slotOfSecond() <-chan *server {
	if r.second == nil {
		return nil
	}
	return r.second.got
}

// dropSecond stops waiting for a second server.
func (r *race) dropSecond() {
	if r.second != nil {
		r.pool.slots.leave(r.second)
		r.second = nil
	}
}

// start asks a server that there is a slot at.
func (r *race) start(ctx context.Context, s *server, hedge *time.Timer) {
	r.tried[s] = true
	r.running++
	hedge.Reset(r.pool.configuration.hedge(s))
	seqno := s.stands(r.query, 0, r.pool.configuration).seqno
	r.group.Go(func() {
		defer r.pool.slots.release(s)
		answer, err := r.pool.askOne(ctx, s, r.query, seqno)
		r.outcomes <- outcome{s, answer, err}
	})
}

// check runs the query's check.
func (r *race) check(o outcome) error {
	if r.query.Check == nil {
		return nil
	}
	if err := guarded(func() error { return r.query.Check(o.answer) }); err != nil {
		return &badAnswer{err}
	}
	return nil
}

// note files what went wrong with one server.
func (r *race) note(ctx context.Context, o outcome) {
	m := r.pool.metrics
	var bad *badAnswer
	var denial ton.LSError
	var busy *busyError
	result := "failed"
	switch {
	case errors.As(o.err, &bad):
		result = "refused"
		r.refused = append(r.refused, o)
		m.refused.WithLabelValues(o.server.host).Inc()
		var lied *Lie
		if errors.As(o.err, &lied) {
			r.pool.strike(o.server, o.err)
		}
	case errors.As(o.err, &denial) && denial.Code != codeTimeout:
		result = "error"
		r.denied = append(r.denied, denial)
		if r.query.Seqno != 0 && IsMissing(denial) {
			o.server.lacksBlock(r.query.Seqno)
		}
	case errors.As(o.err, &busy):
		result = "busy"
		r.failed = append(r.failed, o.server.host+": "+o.err.Error())
	case ctx.Err() == nil:
		r.failed = append(r.failed, o.server.host+": "+o.err.Error())
	default:
		return
	}
	m.requests.WithLabelValues(o.server.host, result).Inc()
}

// gaveUp is the error of a request that ran out of time.
func (r *race) gaveUp(ctx context.Context) error {
	if err := r.verdict(); err != nil {
		return err
	}
	why := slices.Clone(r.failed)
	for _, s := range r.pool.servers {
		if is := s.stands(r.query, 0, r.pool.configuration); !is.usable {
			why = append(why, s.host+": "+is.why)
		}
	}
	slices.Sort(why)
	why = slices.Compact(why)
	err := ErrUnavailable
	if len(why) > 0 {
		err = fmt.Errorf("%w (%s)", err, strings.Join(why, "; "))
	}
	if ctx.Err() != nil { // there may be nobody to ask long before
		err = fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return err
}

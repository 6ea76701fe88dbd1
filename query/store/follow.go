package store

import (
	"context"
	"time"

	"tonscribe/internal/lifetime"
	"tonscribe/query/head"
	"tonscribe/query/memory"
)

const (
	// followLimit bounds each statement of the follower.
	followLimit = 10 * time.Second
	// duty is the part of the time that reading newest bundles may take, so that
	// a catch-up of the sink is not slowed down for the sake of the head.
	duty = 10
	// restLimit bounds the pause for the sake of duty.
	restLimit = time.Second
	// headRestLimit bounds it when at most headBundles came at once: that is the
	// chain going on, and the next bundle should not have to wait.
	headRestLimit = 50 * time.Millisecond
	headBundles   = 4
)

// follow keeps the view at the watermark until ctx ends.
func (s *Store) follow(ctx context.Context) {
	var looked time.Time // at the tables
	moved := time.Now()
	for tables := true; ctx.Err() == nil; {
		began := time.Now()
		before := s.view.Load()
		if tables {
			looked = began
			s.fail(ctx, s.reader.CountParts(ctx))
		}
		changed, err := s.step(ctx, tables)
		s.fail(ctx, err)
		rest := time.Duration(0)
		if changed && tables {
			rest = min(duty*time.Since(began), s.restLimit(before))
			moved = time.Now()
		}
		tables = s.pause(ctx, rest, looked, s.interval(time.Since(moved)))
	}
}

const (
	// nearPoll is how often the log's end is looked for.
	nearPoll = 500 * time.Millisecond
	// firstPoll is how often the tables are looked for before that.
	firstPoll = 20 * time.Millisecond
	// firstPatience is how long the first view waits for the log, and for each next
	// bundle that it had at the start.
	firstPatience = 5 * time.Second
	// againAfter is the pause before a log is followed again.
	againAfter = 2 * time.Second
)

// awaitLog looks until ctx ends whether the tables are near the end of the log: what
// is read of a log that the sink is still far behind would only wait for it in memory.
func (s *Store) awaitLog(ctx context.Context) {
	for pause := time.Duration(0); lifetime.Sleep(ctx, pause) == nil; {
		v := s.view.Load()
		if pause = nearPoll; v == nil {
			pause = firstPoll
		} else if !s.near.Load() {
			near, err := s.log.Near(ctx, v.Watermark, v.GenUtime)
			s.fail(ctx, err)
			s.near.Store(near)
			s.asked.Store(s.asked.Load() || err == nil)
		}
	}
}

// publish makes the first view visible: at once without a log, otherwise when it has what
// the log had at the start, so that who asks before and after a restart does not see
// the chain go back. A log that does not answer, or gives nothing more, is not waited for.
func (s *Store) publish(caughtUp bool) {
	if s.shown.Load() {
		return
	}
	if s.log == nil || s.isFar() || caughtUp || time.Since(s.came) > firstPatience {
		s.shown.Store(true)
		s.wake()
	}
}

// isFar reports whether the log has said that the tables are not near its end.
func (s *Store) isFar() bool { return s.asked.Load() && !s.near.Load() }

// wake wakes those who wait for a newer view.
func (s *Store) wake() { close(*s.moved.Swap(new(make(chan struct{})))) }

// followLog begins to follow the log when the tables are near its end, and ends it
// when the log could not be followed any further: what the tables have counts then,
// until they are near the end of the log as it is now.
func (s *Store) followLog(tables uint32) {
	switch {
	case s.following && s.log.Err() != nil:
		s.log.Stop()
		s.following, s.again = false, time.Now().Add(againAfter)
		s.near.Store(false)
	case !s.following && s.near.Load() && time.Now().After(s.again):
		s.log.Start(tables)
		s.following = true
	}
}

// fail counts a failure, and logs one now and then.
func (s *Store) fail(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	s.followFailures.Inc()
	s.failing.Warn().Err(err).Msg("what is new could not be read; trying again")
}

// restLimit is the longest rest after a step that changed the view.
func (s *Store) restLimit(before *head.View) time.Duration {
	after := s.view.Load()
	if before != nil && after.Watermark > before.Watermark && after.Watermark-before.Watermark <= headBundles {
		return headRestLimit
	}
	return restLimit
}

// logPoll is how often the tables are looked at when the log tells what is new: only to
// let go of what they have.
const logPoll = 3 * time.Second

const (
	// idlePoll bounds the pauses between looks at tables that stand.
	idlePoll = time.Second
	// delayShare is by what part of the time that bundles take to come they may be seen later.
	delayShare = 16
)

// interval is how often tables are looked at that have been standing for some time.
func (s *Store) interval(standing time.Duration) time.Duration {
	return max(s.configuration.Poll, min(standing/delayShare, idlePoll))
}

// pause lets the rest pass, and then what is left of the time since the tables were
// looked at, unless something new is reported before. It reports whether the tables are
// to be looked at.
func (s *Store) pause(ctx context.Context, rest time.Duration, looked time.Time, interval time.Duration) (tables bool) {
	poll, wake := interval-rest, s.configuration.Wake
	var changed <-chan struct{}
	if s.following && s.shown.Load() {
		changed, wake, rest = s.log.Changed(), nil, 0
		poll = max(s.configuration.Poll, logPoll) - time.Since(looked)
	}
	if s.rest(ctx, rest, wake) || poll <= 0 {
		return true
	}
	select {
	case <-time.After(poll):
	case <-wake:
	case <-changed:
		return false
	case <-ctx.Done():
	}
	return true
}

// sinkLull is for how long a sink that has something to do reports nothing, at most.
const sinkLull = 50 * time.Millisecond

// rest lets d pass for the sake of the sink, unless that has ended before: something new
// is reported, and then nothing for a lull. It returns whether something new was reported.
func (s *Store) rest(ctx context.Context, d time.Duration, wake <-chan struct{}) (reported bool) {
	if d <= 0 {
		return false
	}
	over := time.After(d)
	var lull <-chan time.Time
	for {
		select {
		case <-wake:
			reported, lull = true, time.After(sinkLull)
		case <-lull:
			return true
		case <-over:
			return reported
		case <-ctx.Done():
			return reported
		}
	}
}

// step reads what is new, and makes it visible.
func (s *Store) step(ctx context.Context, tables bool) (read bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, followLimit)
	defer cancel()
	var newer memory.Bundles
	if v := s.view.Load(); v != nil && s.log != nil {
		s.followLog(v.Tables)
	}
	caughtUp := s.following && s.log.CaughtUp()
	if s.following {
		newer = s.log.Bundles()
		if n := len(newer); n > 0 && newer[n-1].MCSeqno != s.newest {
			s.newest, s.came = newer[n-1].MCSeqno, time.Now()
		}
	}
	v, read, err := s.filler.Next(ctx, s.view.Load(), tables, newer, func(v *head.View) { s.fail(ctx, s.Advance(ctx, v)) })
	if v == nil {
		s.publish(caughtUp && err == nil)
		return read, err
	}
	s.view.Store(v)
	s.wake()
	if s.following {
		s.log.Trim(v.Tables)
	}
	s.publish(caughtUp)
	return read, err
}

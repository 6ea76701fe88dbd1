package store

import (
	"context"
	"time"
	"tonscribe/query/head"
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
	for ctx.Err() == nil {
		began := time.Now()
		before := s.view.Load()
		s.fail(ctx, s.reader.CountParts(ctx))
		changed, err := s.step(ctx)
		s.fail(ctx, err)
		rest := time.Duration(0)
		if changed {
			rest = min(duty*time.Since(began), s.restLimit(before))
		}
		s.pause(ctx, rest)
	}
}

// fail counts a failure, and logs one now and then.
func (s *Store) fail(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	s.followFailures.Inc()
	now, logged := time.Now().UnixNano(), s.logged.Load()
	if now-logged > int64(10*time.Second) && s.logged.CompareAndSwap(logged, now) {
		s.report.Log.Warn().Err(err).Msg("what is new could not be read; trying again")
	}
}

// restLimit is the longest rest after a step that changed the view.
func (s *Store) restLimit(before *head.View) time.Duration {
	after := s.view.Load()
	if before != nil && after.Watermark > before.Watermark && after.Watermark-before.Watermark <= headBundles {
		return headRestLimit
	}
	return restLimit
}

// pause lets the rest pass, and then what is left of the time between two polls,
// unless something new is reported before.
func (s *Store) pause(ctx context.Context, rest time.Duration) {
	s.rest(ctx, rest)
	poll := s.configuration.Poll - rest
	if poll <= 0 {
		return
	}
	select {
	case <-time.After(poll):
	case <-s.configuration.Wake:
	case <-ctx.Done():
	}
}

func (s *Store) rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// step reads what is new, and makes it visible.
func (s *Store) step(ctx context.Context) (read bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, followLimit)
	defer cancel()
	v, read, err := s.filler.Next(ctx, s.view.Load(), func(v *head.View) { s.fail(ctx, s.Advance(ctx, v)) })
	if v != nil {
		s.view.Store(v)
	}
	return read, err
}

package auth

import (
	"context"
	"time"
)

// keyring is what one look at the table found. It does not change; the states
// of keys live on from one to the next.
type keyring struct {
	byHash map[Hash]*state
	read   time.Time     // when the look began, zero before the first
	next   chan struct{} // closed when the next look has ended
}

// known says that the table was read.
func (r *keyring) known() bool { return !r.read.IsZero() }

// state is a key in use: its limit and its counts.
type state struct {
	Key
	rule   rule
	bucket *bucket
	usage  *usage
}

const (
	// readLimit bounds each look at the table.
	readLimit = 10 * time.Second
	// refreshPause is the least time between two looks, however many unknown keys
	// are asked for.
	refreshPause = 100 * time.Millisecond
	// mostWaiting bounds the requests that wait for a look.
	mostWaiting = 256
	// waitLimit bounds how long one of them waits.
	waitLimit = 2 * time.Second
	// quiet is the least time between two log lines about the same trouble.
	quiet = 10 * time.Second
)

// follow keeps the keys as the table has them until ctx ends.
func (c *Component) follow(ctx context.Context) {
	var seen mark
	var told time.Time
	for ctx.Err() == nil {
		if err := c.look(ctx, &seen); err != nil && ctx.Err() == nil {
			c.metrics.refreshFailures.Inc()
			if time.Since(told) > quiet {
				told = time.Now()
				c.report.Log.Warn().Err(err).Msg("the API keys could not be read; trying again")
			}
		}
		if !sleep(ctx, refreshPause) {
			return
		}
		select {
		case <-ctx.Done():
		case <-c.refresh:
		case <-time.After(max(0, c.configuration.Refresh-refreshPause)):
		}
	}
}

func sleep(ctx context.Context, pause time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// look reads the table when it has changed.
func (c *Component) look(ctx context.Context, seen *mark) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	began, old := time.Now(), c.keys.Load()
	m, err := c.table.mark(ctx)
	if err != nil {
		return err
	}
	if old.known() && m == *seen {
		c.show(&keyring{byHash: old.byHash, read: began})
		return nil
	}
	keys, err := c.table.List(ctx)
	if err != nil {
		return err
	}
	fresh := &keyring{byHash: make(map[Hash]*state, len(keys)), read: began}
	for _, k := range keys {
		if !k.Revoked {
			fresh.byHash[k.Hash] = c.stateOf(k, old)
		}
	}
	*seen = m
	c.show(fresh)
	return nil
}

// stateOf keeps what a key has used up already.
func (c *Component) stateOf(k Key, old *keyring) *state {
	s := &state{Key: k, rule: newRule(k.Rate, k.Burst), bucket: &bucket{}}
	if old.byHash[k.Hash] != nil {
		s.bucket = old.byHash[k.Hash].bucket
	}
	counts, _ := c.counted.LoadOrStore(k.Hash, &usage{})
	s.usage = counts.(*usage)
	return s
}

func (c *Component) show(fresh *keyring) {
	fresh.next = make(chan struct{})
	close(c.keys.Swap(fresh).next)
}

// find is the key with the hash. One that is not known may be new, or nothing was
// read yet: the table is looked at before it is refused.
func (c *Component) find(ctx context.Context, hash Hash) (*state, error) {
	ring := c.keys.Load()
	if s := ring.byHash[hash]; s != nil {
		return s, nil
	}
	select {
	case c.waiting <- struct{}{}:
		defer func() { <-c.waiting }()
	default:
		if !ring.known() {
			return nil, errNotRead
		}
		return nil, ErrNotFound
	}
	asked := time.Now()
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	for {
		select {
		case c.refresh <- struct{}{}:
		default: // asked for already
		}
		select {
		case <-ring.next:
		case <-ctx.Done():
			if !ring.known() {
				return nil, errNotRead
			}
			return nil, ErrNotFound
		}
		ring = c.keys.Load()
		if s := ring.byHash[hash]; s != nil {
			return s, nil
		}
		if ring.read.After(asked) {
			return nil, ErrNotFound
		}
	}
}

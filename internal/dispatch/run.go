package dispatch

import (
	"container/heap"
	"context"
	"errors"
	"slices"
	"time"
)

// closingTime bounds the last write.
const closingTime = 5 * time.Second

// Run tries what is due until ctx ends, the store fails, or its Poll returns
// ErrEnd. What is under way then is broken off, to be tried again from the store.
func (q *Queue[D, K, V]) Run(ctx context.Context) (err error) {
	trying, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		q.tries.Wait()
		if err == nil || ctx.Err() != nil {
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
			defer cancel()
			err = q.write(closing)
		}
	}()
	for due := time.Now(); ; {
		if !due.After(time.Now()) {
			err := q.write(ctx)
			if err == nil {
				err = q.store.Poll(ctx)
			}
			switch {
			case errors.Is(err, ErrEnd):
				return nil
			case err != nil:
				return err
			}
			due = time.Now().Add(q.options.Poll)
		}
		dry, next := q.advance(trying, due)
		if dry != nil {
			if err := q.read(ctx, dry); err != nil {
				return err
			}
			next = time.Now() // there may be more to read
		}
		select {
		case <-ctx.Done():
			return nil
		case r := <-q.results:
			if q.takeEnded(r) {
				if err := q.write(ctx); err != nil {
					return err
				}
			}
		case <-q.changed:
		case <-time.After(time.Until(next)):
		}
	}
}

// advance does what has come to be due, and returns a destination whose store is
// to be read, if there is one, and when it must be called again at the latest.
func (q *Queue[D, K, V]) advance(ctx context.Context, next time.Time) (*destination[D, K, V], time.Time) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for len(q.timers) > 0 && !q.timers[0].at.After(time.Now()) {
		heap.Pop(&q.timers).(*timer).do() //nolint:forcetypeassert // nothing else is pushed
	}
	for q.running < q.options.Parallel && len(q.turns) > 0 {
		d := q.turns[0]
		q.turns = q.turns[1:]
		if d.failures > 0 && q.busy >= max(1, q.options.Parallel/4) || q.isUnproven(d) && q.unproven >= q.options.Unproven {
			q.parked = append(q.parked, d)
			continue
		}
		q.begin(ctx, d)
	}
	if len(q.timers) > 0 && q.timers[0].at.Before(next) {
		next = q.timers[0].at
	}
	for i, d := range q.dry {
		if q.room(d) > 0 {
			q.dry = slices.Delete(q.dry, i, i+1)
			return d, next
		}
	}
	return nil, next
}

// isUnproven reports whether a destination counts for Options.Unproven.
func (q *Queue[D, K, V]) isUnproven(d *destination[D, K, V]) bool {
	return q.options.Unproven > 0 && d.failures == 0 && !q.proven[d.name]
}

// begin tries the first item of a destination.
func (q *Queue[D, K, V]) begin(ctx context.Context, d *destination[D, K, V]) {
	item := d.ready[0]
	d.ready = d.ready[1:]
	r := result[D, K, V]{item: item, from: d, size: item.Size, busy: d.failures > 0, unproven: q.isUnproven(d)}
	d.active++
	q.running++
	if r.busy {
		q.busy++
	}
	if r.unproven {
		q.unproven++
	}
	d.queued = false
	q.queue(d)
	q.tries.Go(func() {
		r.Result = q.try(ctx, item)
		select {
		case q.results <- r:
		case <-ctx.Done():
		}
	})
}

// takeEnded takes a try, and those that have ended while a store was read: one at a time
// they would wait for as many reads. It reports whether there is enough to be written.
func (q *Queue[D, K, V]) takeEnded(r result[D, K, V]) (enough bool) {
	for {
		if q.take(r) {
			return true
		}
		select {
		case r = <-q.results:
		default:
			return false
		}
	}
}

// take notes what became of a try, and reports whether there is enough to be
// written.
func (q *Queue[D, K, V]) take(r result[D, K, V]) (enough bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	d := r.from
	d.held--
	q.running--
	if r.busy {
		q.busy--
	}
	if r.unproven {
		q.unproven--
	}
	if r.busy || r.unproven {
		q.turns, q.parked = append(q.turns, q.parked...), nil
	}
	pause := q.options.Limits(d.name).Pause
	if d.failures++; !r.Busy {
		d.failures = 0
		if q.options.Unproven > 0 {
			q.proven[d.name] = true
		}
	} else {
		delete(q.proven, d.name)
		pause = max(q.options.Busy.After(d.failures), min(r.After, q.options.MaxAfter))
	}
	if pause > 0 {
		q.at(time.Now().Add(pause), func() { q.rested(d) })
	} else {
		q.rested(d)
	}
	q.bytes += r.item.Size - r.size
	q.tried = append(q.tried, r.item)
	q.triedBytes += r.item.Size
	return len(q.tried) >= q.options.WriteItems || q.triedBytes >= q.options.WriteBytes
}

// rested ends the pause after a try.
func (q *Queue[D, K, V]) rested(d *destination[D, K, V]) {
	d.active--
	q.queue(d)
}

// write hands to the store what was tried, and lets go of it or schedules it
// again.
func (q *Queue[D, K, V]) write(ctx context.Context) error {
	q.mutex.Lock()
	tried := q.tried
	q.tried, q.triedBytes = nil, 0
	q.mutex.Unlock()
	if len(tried) == 0 {
		return nil
	}
	if err := q.store.Write(ctx, tried); err != nil {
		return err
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, item := range tried {
		d := q.destination(item.Destination)
		switch {
		case item.Due.IsZero():
			q.release(d, item)
		case q.options.Hold:
			d.held++
			q.schedule(d, item)
		default:
			q.release(d, item)
			q.wake(d, item.Due)
		}
		q.queue(d)
	}
	return nil
}

// read takes up what is due of a destination.
func (q *Queue[D, K, V]) read(ctx context.Context, d *destination[D, K, V]) error {
	q.mutex.Lock()
	limit := q.room(d)
	if limit <= 0 { // others have taken it meanwhile
		q.dry = append(q.dry, d)
		q.mutex.Unlock()
		return nil
	}
	d.wake = time.Time{}
	q.mutex.Unlock()
	items, again, err := q.store.Read(ctx, d.name, limit)
	if err != nil {
		return err
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	d.isDry = false
	fresh := false
	for _, item := range items {
		fresh = q.add(d, item) || fresh
	}
	now := time.Now()
	d.behind = !again.IsZero() && !again.After(now)
	if !again.IsZero() {
		if len(items) > 0 && !fresh && d.behind {
			again = now.Add(q.options.Poll) // what is held is let go of by a write
		}
		q.wake(d, again)
	}
	q.queue(d)
	return nil
}

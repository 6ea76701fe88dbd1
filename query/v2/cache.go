package v2

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// cache keeps answers for their methods' times and lets equal requests share
// one answer that is on its way.
type cache struct {
	mu      sync.Mutex
	bytes   int // of all entries
	most    int
	entries map[string]*list.Element
	order   *list.List // of *entry, the last used first
	flights map[string]*flight
	running sync.WaitGroup
}

type entry struct {
	key    string
	answer answer
	until  time.Time
}

// answer is an encoded result.
type answer struct {
	body    []byte
	servers string
	cached  bool
}

// flight is an answer on its way.
type flight struct {
	landed  chan struct{}
	waiting int // clients
	cancel  context.CancelFunc
	answer  answer
	err     error
}

func newCache(most int) *cache {
	return &cache{most: most, entries: map[string]*list.Element{}, order: list.New(), flights: map[string]*flight{}}
}

// do answers from the cache, from a flight that others began, or from a new
// one. A flight has a context of its own, which begin makes: it goes on when the
// client that began it has gone, as long as others wait for it.
func (c *cache) do(ctx context.Context, key string, keep time.Duration, begin func() (context.Context, context.CancelFunc), ask func(context.Context) (answer, error)) (answer, error) {
	c.mu.Lock()
	if found, ok := c.find(key); ok {
		c.mu.Unlock()
		return found, nil
	}
	f, ok := c.flights[key]
	if !ok {
		shared, cancel := begin()
		f = &flight{landed: make(chan struct{}), cancel: cancel}
		c.flights[key] = f
		c.running.Add(1)
		go c.fly(shared, f, key, keep, ask)
	}
	f.waiting++
	c.mu.Unlock()
	select {
	case <-f.landed:
		return f.answer, f.err
	case <-ctx.Done():
		c.leave(f, key)
		return answer{}, ctx.Err()
	}
}

// leave ends a flight that nobody waits for any more.
func (c *cache) leave(f *flight, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiting--; f.waiting > 0 {
		return
	}
	f.cancel()
	if c.flights[key] == f {
		delete(c.flights, key)
	}
}

func (c *cache) fly(ctx context.Context, f *flight, key string, keep time.Duration, ask func(context.Context) (answer, error)) {
	defer c.running.Done()
	defer f.cancel()
	f.answer, f.err = ask(ctx)
	c.mu.Lock()
	if c.flights[key] == f {
		delete(c.flights, key)
	}
	if f.err == nil {
		c.put(key, f.answer, time.Now().Add(keep))
	}
	c.mu.Unlock()
	close(f.landed)
}

func (c *cache) find(key string) (answer, bool) {
	element, ok := c.entries[key]
	if !ok {
		return answer{}, false
	}
	e := element.Value.(*entry)
	if time.Now().After(e.until) {
		c.drop(element)
		return answer{}, false
	}
	c.order.MoveToFront(element)
	found := e.answer
	found.cached = true
	return found, true
}

// overhead is what an entry costs besides its text.
const overhead = 300

func (e *entry) size() int { return len(e.key) + len(e.answer.body) + overhead }

func (c *cache) put(key string, a answer, until time.Time) {
	e := &entry{key: key, answer: a, until: until}
	if e.size() > c.most/8 {
		return
	}
	if old, ok := c.entries[key]; ok {
		c.drop(old)
	}
	c.entries[key] = c.order.PushFront(e)
	c.bytes += e.size()
	for c.bytes > c.most {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(element *list.Element) {
	e := element.Value.(*entry)
	c.order.Remove(element)
	delete(c.entries, e.key)
	c.bytes -= e.size()
}

// wait returns when no flight is on its way.
func (c *cache) wait() { c.running.Wait() }

package node

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"tonscribe/internal/lite"
)

// Question is what is asked of a Node, as far as others may ask the same.
type Question struct {
	// Key tells questions apart; those without one are answered one by one.
	Key string
	// Keep is how long the answer may be repeated.
	Keep time.Duration
	// Queue is where the question waits for its turn.
	Queue Queue
}

// Queue is questions of which so many may ask lite servers at a time.
type Queue struct {
	Name     string
	Parallel int // DefaultParallel when zero
}

// DefaultParallel is how many questions of a queue may ask lite servers at a time
// unless it says otherwise.
const DefaultParallel = 64

// Answer is an answer as its layer wrote it.
type Answer struct {
	Body    []byte
	Servers string // the lite servers that were asked, empty for none
	Cached  bool
}

// Share answers a question: with the answer to the same one of a moment ago, with
// one that is on its way, or when it is the question's turn by calling write, which
// asks the Node and writes down what it says.
func (n *Node) Share(ctx context.Context, q Question, write func(context.Context) ([]byte, error)) (Answer, error) {
	if !n.Configured() {
		return Answer{}, noServer("no lite server is configured")
	}
	ctx, cancel := context.WithTimeout(ctx, n.configuration.Deadline)
	defer cancel()
	ask := func(ctx context.Context) (Answer, error) {
		ctx = n.withGas(ctx)
		leave, err := n.enter(ctx, q.Queue)
		if err != nil {
			return Answer{}, err
		}
		defer leave()
		var asked lite.Answered
		body, err := Guard(func() ([]byte, error) { return write(lite.WithAnswered(ctx, &asked)) })
		return Answer{Body: body, Servers: asked.String()}, err
	}
	if q.Key == "" {
		return ask(ctx)
	}
	return n.answers.do(ctx, q.Key, q.Keep, func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(n.ctx, n.configuration.Deadline)
	}, ask)
}

// Guard makes errors of panics.
func Guard(write func() ([]byte, error)) (body []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return write()
}

// enter waits for a slot of a queue; leave gives it back.
func (n *Node) enter(ctx context.Context, queue Queue) (leave func(), err error) {
	held, ok := n.queues.Load(queue.Name)
	if !ok {
		held, _ = n.queues.LoadOrStore(queue.Name, make(chan struct{}, cmp.Or(queue.Parallel, DefaultParallel)))
	}
	slots := held.(chan struct{})
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// answers keeps answers for their time and lets equal questions share one that is on
// its way.
type answers struct {
	kept    *otter.Cache[string, keptAnswer] // nil keeps nothing
	mu      sync.Mutex
	flights map[string]*flight
	running sync.WaitGroup
}

type keptAnswer struct {
	Answer
	until time.Time
}

// flight is an answer on its way.
type flight struct {
	landed  chan struct{}
	waiting int // clients
	cancel  context.CancelFunc
	answer  Answer
	err     error
}

func newAnswers(bytes int) *answers {
	const overhead = 300 // of an entry, besides its texts
	c := &answers{flights: map[string]*flight{}}
	if bytes > 0 {
		c.kept = otter.Must(&otter.Options[string, keptAnswer]{
			MaximumWeight: uint64(bytes), Weigher: func(key string, a keptAnswer) uint32 { return uint32(len(key) + len(a.Body) + overhead) },
		})
	}
	return c
}

// do answers from the cache, from a flight that others began, or from a new
// one. A flight has a context of its own, which begin makes: it goes on when the
// client that began it has gone, as long as others wait for it.
func (c *answers) do(ctx context.Context, key string, keep time.Duration, begin func() (context.Context, context.CancelFunc), ask func(context.Context) (Answer, error)) (Answer, error) {
	c.mu.Lock()
	if c.kept != nil {
		if found, ok := c.kept.GetIfPresent(key); ok && time.Now().Before(found.until) {
			c.mu.Unlock()
			found.Cached = true
			return found.Answer, nil
		}
	}
	f, ok := c.flights[key]
	if !ok {
		shared, cancel := begin()
		f = &flight{landed: make(chan struct{}), cancel: cancel}
		c.flights[key] = f
		c.running.Go(func() { c.fly(shared, f, key, keep, ask) })
	}
	f.waiting++
	c.mu.Unlock()
	select {
	case <-f.landed:
		return f.answer, f.err
	case <-ctx.Done():
		c.leave(f, key)
		return Answer{}, ctx.Err()
	}
}

// leave ends a flight that nobody waits for any more.
func (c *answers) leave(f *flight, key string) {
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

func (c *answers) fly(ctx context.Context, f *flight, key string, keep time.Duration, ask func(context.Context) (Answer, error)) {
	defer f.cancel()
	f.answer, f.err = ask(ctx)
	if f.err == nil && c.kept != nil {
		c.kept.Set(key, keptAnswer{f.answer, time.Now().Add(keep)})
	}
	c.mu.Lock()
	if c.flights[key] == f {
		delete(c.flights, key)
	}
	c.mu.Unlock()
	close(f.landed)
}

// kept keeps up to so many values by what they are asked for.
type kept[K comparable, V any] struct{ held *otter.Cache[K, V] }

func newKept[K comparable, V any](size int) kept[K, V] {
	return kept[K, V]{otter.Must(&otter.Options[K, V]{MaximumSize: size})}
}

// find returns the value, or what get returns, which is kept when it is there.
func (k kept[K, V]) find(key K, get func() (value V, there bool, err error)) (V, error) {
	if value, ok := k.held.GetIfPresent(key); ok {
		return value, nil
	}
	value, there, err := get()
	if err == nil && there {
		k.held.Set(key, value)
	}
	return value, err
}

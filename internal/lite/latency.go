package lite

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"tonscribe/internal/lifetime"
)

// latency is how fast and how reliably a server answers. The zero value is ready.
type latency struct {
	mu      sync.Mutex
	mean    float64 // seconds, moving average
	errors  float64 // share of failures, moving average
	at      time.Time
	samples [64]time.Duration
	n       int
}

const (
	// unknownLatency is what a server is expected to take that was not asked yet.
	unknownLatency = 0.1
	// latencyHalf is the time after which what was measured counts half: a server
	// that was slow gets another chance.
	latencyHalf = 30 * time.Second
	// newSample is the weight of a measurement.
	newSample = 0.2
)

func (p *latency) answered(took time.Duration) { p.note(took, 0) }

func (p *latency) failed() { p.note(0, 1) }

// outrun notes that another server was faster, though it was asked later: this
// one would have taken at least so long. It counts as half a failure, or a silent
// server would keep its good name, and be asked first again while others have
// much to do.
func (p *latency) outrun(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors += newSample / 2 * (1 - p.errors)
	p.at = time.Now()
	p.n = max(p.n, 1)
	if s := took.Seconds(); s > p.mean {
		p.mean += 2 * newSample * (s - p.mean)
	}
}

func (p *latency) note(took time.Duration, failed float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors += newSample * (failed - p.errors)
	p.at = time.Now()
	if failed != 0 {
		return
	}
	if p.n == 0 {
		p.mean = took.Seconds()
	}
	p.mean += newSample * (took.Seconds() - p.mean)
	p.samples[p.n%len(p.samples)] = took
	p.n++
}

// expect is about how many seconds an answer will take, failures included.
func (p *latency) expect(now time.Time) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n == 0 && p.errors == 0 {
		return unknownLatency
	}
	mean := p.mean
	if p.n == 0 {
		mean = unknownLatency
	}
	fresh := math.Exp2(-float64(now.Sub(p.at)) / float64(latencyHalf))
	return unknownLatency*(1-fresh) + mean*(1+9*p.errors)*fresh
}

// usual is the time in which the server gave 95 % of its last answers; false
// while it gave too few.
func (p *latency) usual() (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(p.n, len(p.samples))
	if n < 8 {
		return 0, false
	}
	sorted := slices.Clone(p.samples[:n])
	slices.Sort(sorted)
	return sorted[n*95/100], true
}

// hedge is how long a server may take before another one is asked as well.
func (c Configuration) hedge(s *server) time.Duration {
	usual, ok := s.latency.usual()
	if !ok {
		usual = c.HedgeMax / 4
	}
	return min(max(usual, c.HedgeMin), c.HedgeMax)
}

// bucket bounds requests per second: up to a second's worth may come at once.
type bucket struct {
	rate float64

	mu   sync.Mutex
	left float64
	at   time.Time
}

func newBucket(rate float64) *bucket { return &bucket{rate: rate, left: max(rate, 1)} }

// take gives leave for one request, or how long to wait for it.
func (b *bucket) take() time.Duration {
	if b.rate <= 0 {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if !b.at.IsZero() {
		b.left = min(b.left+now.Sub(b.at).Seconds()*b.rate, max(b.rate, 1))
	}
	b.at = now
	if b.left < 1 {
		return time.Duration((1 - b.left) / b.rate * float64(time.Second))
	}
	b.left--
	return 0
}

// wait returns when there is leave for one request.
func (b *bucket) wait(ctx context.Context) error {
	for pause := b.take(); pause > 0; pause = b.take() {
		if err := lifetime.Sleep(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

// budget lets second requests be at most a tenth of all, so that a slow network
// is not asked twice for everything.
type budget struct {
	mu   sync.Mutex
	left float64
}

const (
	hedgesPerRequest = 0.1
	hedgesAtOnce     = 20
)

func newBudget() *budget { return &budget{left: hedgesAtOnce} }

func (b *budget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.left+hedgesPerRequest, hedgesAtOnce)
}

func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

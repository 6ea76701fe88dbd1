package verify

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Progress of one step of a run.
type Progress struct {
	Step        string
	Done, Total uint64
	Rate        float64 // a second
	Left        time.Duration
}

func (p Progress) String() string {
	return fmt.Sprintf("%s: %d of %d, %.0f/s, %s left", p.Step, p.Done, p.Total, p.Rate, p.Left.Round(time.Second))
}

// progressPause is the least time between two reports.
const progressPause = time.Second

// meter measures one step.
type meter struct {
	step   string
	report func(Progress)
	total  uint64
	began  time.Time
	done   atomic.Uint64

	mu       sync.Mutex
	reported time.Time
}

func (v *verifier) meter(step string, total uint64) *meter {
	now := time.Now()
	return &meter{step: step, report: v.Progress, total: total, began: now, reported: now}
}

func (m *meter) add(n uint64) {
	done := m.done.Add(n)
	if m.report == nil || !m.mu.TryLock() {
		return
	}
	defer m.mu.Unlock()
	now := time.Now()
	if now.Sub(m.reported) < progressPause {
		return
	}
	m.reported = now
	p := Progress{Step: m.step, Done: done, Total: max(m.total, done), Rate: float64(done) / now.Sub(m.began).Seconds()}
	if p.Rate > 0 {
		p.Left = time.Duration(float64(p.Total-p.Done) / p.Rate * float64(time.Second))
	}
	m.report(p)
}

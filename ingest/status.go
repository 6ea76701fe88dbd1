package ingest

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Status is how far the stage is.
type Status struct {
	From       uint32 // first bundle of this run
	To         uint32 // last one, 0 without an end
	Published  uint32 // last bundle published, 0 for none
	Passed     uint32 // last bundle published or skipped
	SourceLast uint32 // highest masterchain block of the source
	Bundles    uint64 // of this run
	Blocks     uint64
	Bytes      uint64
	Gaps       uint64
	Waiting    string // for which block the next bundle waits, empty when it does not
	Done       bool
}

// Lag is how many masterchain blocks of the wanted range the source has and the
// log has not.
func (s Status) Lag() uint32 {
	end := s.SourceLast
	if s.To != 0 {
		end = s.To
	}
	if end <= s.Passed {
		return 0
	}
	return end - s.Passed
}

// status is what Status is made from.
type status struct {
	source Source

	mu    sync.Mutex
	began time.Time
	now   Status
	waits map[uint32]string
}

func newStatus(source Source) *status {
	return &status{source: source, waits: map[uint32]string{}}
}

// begin notes the range of the run, and the last bundle that the log holds.
func (s *status) begin(from, to, done uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = time.Now()
	s.now = Status{From: from, To: to, Published: done, Passed: from - 1}
}

// took is how long the run has lasted.
func (s *status) took() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.began)
}

func (s *status) get() Status {
	_, last := s.source.Range()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now
	now.SourceLast = last
	if len(s.waits) > 0 {
		now.Waiting = s.waits[slices.Min(slices.Collect(maps.Keys(s.waits)))]
	}
	return now
}

func (s *status) published(b *bundle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Published = b.seqno
	s.passed(b.seqno)
	s.now.Bundles++
	s.now.Blocks += uint64(len(b.blocks))
	s.now.Bytes += uint64(b.bytes)
}

func (s *status) skipped(seqno uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed(seqno)
	s.now.Gaps++
}

// waitFor notes why a bundle waits, and says whether it is the first one that
// does.
func (s *status) waitFor(bundle uint32, why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits[bundle] = why
	return bundle == slices.Min(slices.Collect(maps.Keys(s.waits)))
}

// reachable forgets why the source did not tell of a bundle.
func (s *status) reachable(bundle uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waits, bundle)
}

// passed forgets what was waited for. The caller holds the lock.
func (s *status) passed(bundle uint32) {
	s.now.Passed = bundle
	maps.DeleteFunc(s.waits, func(waiting uint32, _ string) bool { return waiting <= bundle })
}

func (s *status) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Done = true
}

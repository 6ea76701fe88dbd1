package repair

import (
	"fmt"
	"sync"
	"time"
)

// drawEvery is the least time between two lines about progress.
const drawEvery = 200 * time.Millisecond

// progress is how far the partitions of the topics are in a range of bundles.
type progress struct {
	first, last uint32
	partitions  int // partitions of all topics
	report      func(line string)
	began       time.Time

	mutex sync.Mutex
	done  map[string]uint32 // bundles, by topic and partition
	sum   uint64            // of them
	drawn time.Time
}

func newProgress(first, last uint32, partitions int, report func(string)) *progress {
	return &progress{first: first, last: last, partitions: partitions, report: report, began: time.Now(), done: map[string]uint32{}}
}

// sealed notes that all rows of a partition up to a bundle are in the tables.
func (p *progress) sealed(topic string, partition int, mcSeqno uint32) {
	p.mutex.Lock()
	key := fmt.Sprintf("%s/%d", topic, partition)
	if mcSeqno = min(mcSeqno, p.last); mcSeqno >= p.first {
		bundles := max(p.done[key], mcSeqno-p.first+1)
		p.sum += uint64(bundles - p.done[key])
		p.done[key] = bundles
	}
	p.mutex.Unlock()
	p.draw()
}

// complete reports whether every partition is at the end.
func (p *progress) complete() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.sum == uint64(p.partitions)*uint64(p.bundles())
}

func (p *progress) bundles() uint32 { return p.last - p.first + 1 }

// draw tells of what all partitions have done on average: those of the log come one
// after the other.
func (p *progress) draw() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if time.Since(p.drawn) < drawEvery {
		return
	}
	p.drawn = time.Now()
	p.report("bundles: " + ahead(float64(p.sum)/float64(p.partitions), float64(p.bundles()), "bundles", time.Since(p.began)))
}

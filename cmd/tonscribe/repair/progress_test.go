package repair

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// The log's partitions are filled one after the other: what is done of the first
// ones counts.
func TestProgressTellsRateAndTimeLeftFromTheFirstPartitionOn(t *testing.T) {
	var line string
	p := newProgress(11, 110, 4, func(text string) { line = text })
	p.began = time.Now().Add(-10 * time.Second)
	p.sealed("headers", 0, 60)
	if want := regexp.MustCompile(`^bundles: 12 of 100 bundles, 1 a second, 1m(09|1\d)s left$`); !want.MatchString(line) {
		t.Errorf("%q after half of one of four partitions in ten seconds, want %s", line, want)
	}
	for partition := range 2 {
		p.sealed("headers", partition, 110)
		p.sealed("transactions", partition, 109)
	}
	if p.complete() {
		t.Error("complete while two partitions are one bundle short")
	}
	p.sealed("transactions", 0, 120)
	p.sealed("transactions", 0, 30) // read again
	p.sealed("transactions", 1, 110)
	if !p.complete() {
		t.Errorf("not complete although all are at the end: %v", p.done)
	}
	p.drawn = time.Time{}
	if p.draw(); !strings.HasPrefix(line, "bundles: 100 of 100 bundles, ") || !strings.HasSuffix(line, ", 0s left") {
		t.Errorf("%q at the end", line)
	}
}

func TestWhatLiesBetweenTwoBundlesThatFollowEachOtherIsLeftOut(t *testing.T) {
	p := plan{gaps: []gap{{4, 6}, {10, 14}, {14, 20}}}
	for n := uint32(1); n < 25; n++ {
		want := n == 5 || n > 10 && n < 14 || n > 14 && n < 20
		if got := p.leaveOut(n); got != want {
			t.Errorf("bundle %d is left out: %v, want %v", n, got, want)
		}
	}
}

package costtest

import (
	"fmt"
	"testing"
	"time"
)

// recorder notes failures instead of failing.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

var sink []byte

func TestCallsBeyondTheBoundsFail(t *testing.T) {
	for _, c := range []struct {
		name string
		call func()
		want int
	}{
		{"nothing", func() {}, 0},
		{"waiting", func() { time.Sleep(40 * time.Millisecond) }, 0},
		{"a busy loop", func() {
			for began := threadTime(); threadTime()-began < 30*time.Millisecond; {
			}
		}, 1},
		{"a large slice", func() { sink = make([]byte, 2<<20) }, 1},
		{"many small slices", func() {
			for range 4096 {
				sink = make([]byte, 512)
			}
		}, 1},
	} {
		r := &recorder{TB: t}
		Within(r, 20*time.Millisecond, 1<<20, c.call)
		if len(r.failures) != c.want {
			t.Errorf("%s: %v, want %d failures", c.name, r.failures, c.want)
		}
	}
}

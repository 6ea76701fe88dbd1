// Package costtest holds what reads the input of strangers to a bound. A test
// hands over a call; it fails when the call takes more processor time or
// allocates more than any input may cost.
package costtest

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// What one input may cost: time of the processor, and bytes allocated in all,
// whether or not they are in use at once.
const (
	MaxTime  = 100 * time.Millisecond
	MaxBytes = 64 << 20
)

// heapLimit is where garbage is collected in the middle of a call.
const heapLimit = 512 << 20

// attempts is how often a call that takes too long is tried: a collection of
// garbage that others left may fall into one of them.
const attempts = 3

// Check calls f and fails t when that costs more than an input may. f must do
// its work in the goroutine that calls it.
func Check(t testing.TB, f func()) {
	t.Helper()
	Within(t, MaxTime, MaxBytes, f)
}

// Within is Check with bounds of its own.
func Within(t testing.TB, maxTime time.Duration, maxBytes uint64, f func()) {
	t.Helper()
	took, bytes := measure(f)
	for range attempts - 1 {
		if took <= maxTime && bytes <= maxBytes {
			return
		}
		took, bytes = quietly(f)
	}
	if took <= maxTime && bytes <= maxBytes {
		return
	}
	t.Errorf("took %s of a processor and %d bytes, want %s and %d at most", took, bytes, maxTime, maxBytes)
}

// quietly is measure without the collector, whose help would count as the
// call's own time.
func quietly(f func()) (took time.Duration, bytes uint64) {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(heapLimit))
	return measure(f)
}

// Cheap reports whether f costs no more than an input may, measured once.
func Cheap(f func()) bool {
	took, bytes := measure(f)
	return took <= MaxTime && bytes <= MaxBytes
}

func measure(f func()) (took time.Duration, bytes uint64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, began := allocated(), threadTime()
	f()
	return threadTime() - began, allocated() - before
}

// allocated is how many bytes the process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

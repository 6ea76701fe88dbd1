package dispatch

import (
	"math/rand/v2"
	"time"
)

// Backoff is pauses that double, from First up to Max. Each is made up to a tenth
// longer by chance, so that what failed together is not tried together again.
type Backoff struct {
	First, Max time.Duration
}

// After is the pause after so many failures in a row.
func (b Backoff) After(failures int) time.Duration {
	pause := b.First
	for ; failures > 1 && 0 < pause && pause < b.Max; failures-- {
		pause *= 2
	}
	return Jittered(min(pause, b.Max))
}

// Jittered is a pause up to a tenth longer.
func Jittered(pause time.Duration) time.Duration {
	return pause + time.Duration(rand.Float64()*float64(pause)/10)
}

//go:build !linux

package costtest

import "time"

var began = time.Now()

// threadTime is the time of day, where threads are not told apart.
func threadTime() time.Duration { return time.Since(began) }

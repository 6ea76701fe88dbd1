package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// memoryLimit is where the garbage collector begins to work harder. Batches in
	// flight and the bundles that the tables do not have yet need about half of it.
	memoryLimit = 1 << 30
	// memoryGrowth is by how many hundredths of what is in use memory may grow between
	// two collections, below that limit: each of them goes through all bundles that are
	// held, and at Go's own 100 they took an eighth of the processor at the head.
	memoryGrowth = 200
	// memoryCheck is how often unused memory is looked for; what has been unused
	// for that long goes back to the system.
	memoryCheck = 15 * time.Second
	// memoryKept is how much unused memory is not worth giving back.
	memoryKept = 64 << 20
)

// boundMemory makes a process that was busy small again when it is idle: the
// runtime alone would keep what a backlog needed for many minutes. The variables
// of Go's runtime, GOGC and GOMEMLIMIT, are respected.
func (p *process) boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(memoryGrowth)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(memoryCheck)
		defer ticker.Stop()
		before := unusedMemory()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			now := unusedMemory()
			if before > memoryKept && now > memoryKept {
				debug.FreeOSMemory()
				now = unusedMemory()
			}
			before = now
		}
	})
	p.onStop("memory", func(context.Context) error {
		cancel()
		running.Wait()
		return nil
	})
}

// unusedMemory is what the runtime holds and does not use, in bytes.
func unusedMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}

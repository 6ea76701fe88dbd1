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
	// memoryLimit is where the garbage collector begins to work harder: together with the
	// processes that execute messages, one of all stages stays below a GiB. Batches in
	// flight and the bundles that the tables do not have yet need about half of it.
	memoryLimit = 800 << 20
	// memoryGrowth is by how many hundredths of what is in use memory may grow between
	// two collections, below that limit: each of them goes through all bundles that are
	// held, and at Go's own 100 they took an eighth of the processor at the head.
	memoryGrowth = 300
	// queryGrowth is that of a process that serves the API alone: what it holds is most of
	// its memory, and what it needs besides for a request is little.
	queryGrowth = 50
	// memoryCheck is how often unused memory is looked for; what has been unused
	// for that long, and will not be used within memoryReuse, goes back to the system.
	memoryCheck = 15 * time.Second
	memoryReuse = 4 * memoryCheck
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
	setMemoryGrowth(memoryGrowth)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(memoryCheck)
		defer ticker.Stop()
		before := readMemory()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			now := readMemory()
			if now.idleSince(before) {
				debug.FreeOSMemory()
				now = readMemory()
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

func setMemoryGrowth(hundredths int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(hundredths)
	}
}

// memoryUse is what the runtime holds and does not use, and what was ever asked of
// it, in bytes.
type memoryUse struct{ unused, allocated uint64 }

func readMemory() memoryUse {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/gc/heap/allocs:bytes"},
	}
	metrics.Read(samples)
	return memoryUse{samples[0].Value.Uint64() + samples[1].Value.Uint64(), samples[2].Value.Uint64()}
}

// idleSince reports whether memory is worth giving back: as much was unused at the
// last check, and at the rate of since then it stays so. At the head, what a
// collection leaves unused is used again before the next one: to give it back takes a
// collection more, and a fault for each page.
func (now memoryUse) idleSince(before memoryUse) bool {
	used := (now.allocated - before.allocated) * uint64(memoryReuse/memoryCheck)
	return before.unused > memoryKept && now.unused > memoryKept+used
}

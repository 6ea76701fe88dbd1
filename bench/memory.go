package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// peakMemory is the most memory that a process has had at a time, in bytes
// (VmHWM of Linux; 0 where there is none).
func peakMemory(pid int) uint64 { return statusOf(pid, "VmHWM:") }

// statusOf is a size of a process's memory, in bytes.
func statusOf(pid int, name string) uint64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(b, []byte(name))
	fields := bytes.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseUint(string(fields[0]), 10, 64)
	return kib << 10
}

// forgetPeakMemory lets the peak of this process begin anew.
func forgetPeakMemory() {
	// Not everywhere allowed; then the peak is that of the whole life.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

func printMemory(out *output, r Running, n int) {
	out.figure("peak memory of tonscribe", float64(peakMemory(os.Getpid()))/(1<<20), "MiB", n)
	if r.EnginePID != 0 {
		out.figure("peak memory of ClickHouse", float64(peakMemory(r.EnginePID))/(1<<20), "MiB", n)
	}
}

// processorTime is that of this process and all that it started, and that of the
// embedded ClickHouse among them.
type processorTime struct{ all, engine time.Duration }

func (r Running) processorTime() processorTime {
	p := processorTime{all: processorOf(os.Getpid())}
	if r.EnginePID != 0 {
		p.engine = processorOf(r.EnginePID)
	}
	return p
}

// processorOf is the processor time of a process and of those that it and they have
// started, as far as these still run (Linux; 0 where there is no /proc).
func processorOf(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	const user, system, tick = 11, 12, 10 * time.Millisecond // fields after the name; USER_HZ is 100
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	var sum time.Duration
	for _, n := range []int{user, system} {
		ticks, _ := strconv.ParseInt(string(fields[n]), 10, 64)
		sum += time.Duration(ticks) * tick
	}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is a good one
	for _, thread := range threads {
		children, _ := os.ReadFile(thread) // none when it has ended
		for _, child := range bytes.Fields(children) {
			if n, err := strconv.Atoi(string(child)); err == nil {
				sum += processorOf(n)
			}
		}
	}
	return sum
}

// processorOfSelf is that of this process alone.
func processorOfSelf() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

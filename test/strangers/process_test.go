package strangers

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// family is a process with its children and theirs.
func family(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", all[i]))
		if err != nil {
			continue // it has ended meanwhile
		}
		for _, task := range tasks {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", all[i], task.Name()))
			if err != nil {
				continue
			}
			for _, field := range strings.Fields(string(text)) {
				if child, err := strconv.Atoi(field); err == nil {
					all = append(all, child)
				}
			}
		}
	}
	return all
}

// cpu is the processor time of a family so far, without that of children which
// have ended and were not waited for.
func cpu(pid int) time.Duration {
	const ticksPerSecond = 100 // USER_HZ, fixed for /proc on Linux
	var ticks int
	for _, member := range family(pid) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", member))
		if err != nil {
			continue
		}
		// The name in parentheses may hold anything.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		for _, at := range []int{11, 12} { // utime, stime
			n, _ := strconv.Atoi(fields[at])
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

// cpuPerSecond is what a family uses for some time, in seconds per second.
func cpuPerSecond(t testing.TB, pid int, while time.Duration) float64 {
	t.Helper()
	before, begun := cpu(pid), time.Now()
	time.Sleep(while)
	return (cpu(pid) - before).Seconds() / time.Since(begun).Seconds()
}

// memoryOf is the resident memory of a family without its ClickHouse.
func memoryOf(pid int) int64 {
	var sum int64
	for _, member := range family(pid) {
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", member))
		if err != nil || bytes.Contains(command, []byte("\x00__engine\x00")) {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", member))
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(text), "\nPss:")
		if fields := strings.Fields(after); len(fields) > 0 {
			kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
			sum += kilobytes << 10
		}
	}
	return sum
}

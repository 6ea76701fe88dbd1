package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// mergeThread is what ClickHouse calls a thread that merges parts.
	mergeThread = "MergeMutate"
	// mergeThreads is how many there are.
	mergeThreads = 2
	// mergeNice is by how much the nice value of these is above the engine's: beside others
	// that take all of a processor they have a tenth of it.
	mergeNice = 10
	maxNice   = 19
	// mergePoll is how often they are looked for: they begin with the first table.
	mergePoll = time.Second
)

// lowerMerges lets the merges of a child give way to what is asked and inserted: nobody
// waits for one, and two take both processors of a small machine for as long as they last.
// ClickHouse's own setting for it does nothing without CAP_SYS_NICE.
func (s *supervisor) lowerMerges(c *child) {
	for {
		switch lowered, err := lowerThreads(c.pid(), mergeThread, mergeNice); {
		case err != nil:
			s.options.Report.Log.Warn().Err(err).Msg("merges have the priority of requests")
			return
		case lowered >= mergeThreads:
			return
		}
		select {
		case <-c.exited:
			return
		case <-time.After(mergePoll):
		}
	}
}

// lowerThreads sets the nice value of the threads of a process that have a name to that of
// the process and by more. It returns how many there are.
func lowerThreads(pid int, name string, by int) (lowered int, err error) {
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, pid) // 20 less the nice value
	if err != nil {
		return 0, fmt.Errorf("priority of process %d: %w", pid, err)
	}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		comm, err := os.ReadFile(file)
		if err != nil || strings.TrimSpace(string(comm)) != name {
			continue // others come and go
		}
		thread, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return lowered, err
		}
		if err := unix.Setpriority(unix.PRIO_PROCESS, thread, min(20-priority+by, maxNice)); err != nil {
			return lowered, fmt.Errorf("priority of thread %d: %w", thread, err)
		}
		lowered++
	}
	return lowered, nil
}

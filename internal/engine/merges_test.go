package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// threads are the nice values of the threads of a process by their names.
func threads(t *testing.T, pid int) map[string][]int {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended
		}
		name, rest, _ := strings.Cut(string(text[strings.IndexByte(string(text), '(')+1:]), ")")
		nice, err := strconv.Atoi(strings.Fields(rest)[16])
		if err != nil {
			t.Fatal(err)
		}
		values[name] = append(values[name], nice)
	}
	return values
}

func TestMergesGiveWayToRequests(t *testing.T) {
	t.Parallel()
	c := startClickHouse(t, t.TempDir())
	connection := connect(t, c.DSN())
	execute(t, connection, "CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n")
	priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	own := 20 - priority
	want := min(own+10, 19)
	until(t, "the threads that merge give way", func() bool {
		merging := threads(t, c.Pid())["MergeMutate"]
		return len(merging) > 0 && !slices.ContainsFunc(merging, func(nice int) bool { return nice != want })
	})
	execute(t, connection, "INSERT INTO t SELECT number FROM numbers(100000)")
	execute(t, connection, "ALTER TABLE t REWRITE PARTS SETTINGS mutations_sync = 1")
	of := threads(t, c.Pid())
	merging, serving := of["MergeMutate"], of["TCPHandler"]
	if len(serving) == 0 {
		t.Errorf("no thread answers: %v", of)
	}
	for _, nice := range merging {
		if nice != want {
			t.Errorf("a thread that merges has nice value %d, want %d", nice, want)
		}
	}
	for _, nice := range serving {
		if nice != own {
			t.Errorf("a thread that answers has nice value %d, want %d", nice, own)
		}
	}
}

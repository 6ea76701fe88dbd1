package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"tonscribe/internal/descriptors"
	"tonscribe/internal/report"
)

// The engine starts with few descriptors, and cannot insert.
func TestFewFileDescriptorsAreToldBeforeTheEngineStarts(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("TONSCRIBE_ENGINE_DIR", t.TempDir())
	for limit, told := range map[uint64]bool{descriptors.Few: false, descriptors.Few - 1: true} {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: before.Max}); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		p := &process{settings: newSettings(&cobra.Command{}), report: report.Silent()}
		p.settings.Data, p.report.Log = t.TempDir(), zerolog.New(&log)
		if err := p.openClickHouse(t.Context()); err == nil || !strings.Contains(err.Error(), "make engine") {
			t.Fatalf("without the library: %v", err)
		}
		if got := strings.Contains(log.String(), "ulimit -n 1024"); got != told {
			t.Errorf("%d descriptors: told %v, want %v: %s", limit, got, told, log.String())
		}
	}
}

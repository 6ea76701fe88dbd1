package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/internal/report"
)

// A link, or another file system that is mounted there.
func TestAFolderOfTheDataFolderOnADiskOfItsOwnIsMeasured(t *testing.T) {
	for _, folder := range []string{"clickhouse", "kafka", "cells", "contracts", "traces", "webhooks", "devnet"} {
		s := &settings{Configuration: defaultConfiguration()}
		s.Data = t.TempDir()
		s.Storage.MinFreePercent, s.Storage.MinFreeBytes, s.Storage.MinFreeInodes = 0, 1024, 0
		if err := s.complete(); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/proc", filepath.Join(s.Data, folder)); err != nil { // a file system without any room
			t.Fatal(err)
		}
		p := &process{settings: s, report: report.Silent(), health: &report.Health{}}
		if err := p.watchRoom(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.room.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), filepath.Join(s.Data, folder)) {
			t.Errorf("%s is on a disk without room: %v", folder, err)
		}
		if err := p.room.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// heard tells that something was logged.
type heard struct {
	once sync.Once
	came chan struct{}
}

func (s *heard) Write(text []byte) (int, error) {
	s.once.Do(func() { close(s.came) })
	return len(text), nil
}

// Whoever has the data folder and no run file yet, or no longer, is waited for.
func TestACommandWaitsForAnUpThatStartsOrStops(t *testing.T) {
	s := &settings{Configuration: defaultConfiguration()}
	s.Data = t.TempDir()
	folder := filepath.Join(s.Data, clickHouseFolder)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(filepath.Join(folder, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	p, err := newProcess(s)
	if err != nil {
		t.Fatal(err)
	}
	waits := &heard{came: make(chan struct{})}
	p.report.Log = zerolog.New(waits)
	ended := make(chan error, 1)
	go func() { ended <- p.attachClickHouse(t.Context()) }()
	select {
	case <-waits.came:
	case err := <-ended:
		t.Fatalf("it did not wait: %v", err)
	}
	run, err := writeRunFile(s.Data, runFile{ClickHouse: "clickhouse://x"})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if err := <-ended; err != nil || p.dsn != "clickhouse://x" {
		t.Errorf("it uses %q, %v, want the engine that runs", p.dsn, err)
	}
}

func TestOnlyWhoHoldsTheLockOfARunFileRuns(t *testing.T) {
	dir := t.TempDir()
	found := func(want bool, when string) {
		t.Helper()
		r, err := readRunFile(dir)
		if err != nil || (r != nil) != want || want && (r.PID != 7 || r.HTTP != "http://x") {
			t.Errorf("%s: %+v, %v, want one that runs: %v", when, r, err, want)
		}
	}
	found(false, "without a file")
	path := filepath.Join(dir, runFileName)
	if err := os.WriteFile(path, []byte(`{"pid": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	found(false, "a file left behind, whose number another process has")
	f, err := writeRunFile(dir, runFile{PID: 7, HTTP: "http://x"})
	if err != nil {
		t.Fatal(err)
	}
	found(true, "while it runs")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with passwords has %v, %v, want mode 0600", info, err)
	}
	f.Close()
	found(false, "killed")
}

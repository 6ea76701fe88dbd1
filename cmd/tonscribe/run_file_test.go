package main

import (
	"os"
	"path/filepath"
	"testing"
)

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

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

func TestTheFirstKeyIsPrintedOnATerminalOnly(t *testing.T) {
	p := &process{settings: &settings{}}
	p.settings.Data = "folder"

	terminal, inside, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	p.showOwnersKey(inside, "first-secret")
	seen := make([]byte, 4096)
	n, err := terminal.Read(seen)
	inside.Close()
	if got := string(seen[:n]); err != nil || !strings.Contains(got, "X-API-Key: first-secret") || !strings.Contains(got, filepath.Join("folder", ownersKeyName)) {
		t.Errorf("on a terminal: %q, %v, want the key and its file", got, err)
	}

	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p.showOwnersKey(file, "first-secret")
	if got, err := os.ReadFile(file.Name()); err != nil || len(got) != 0 {
		t.Errorf("into a file: %q, %v, want nothing", got, err)
	}
}

package main

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
)

func TestAZerostateIsFoundByItsHashWhateverElseIsThere(t *testing.T) {
	want := []byte("a state")
	for what, path := range map[string]string{
		"beside others":                     "zerostate_b",
		"in a folder with signs of pattern": "[chain?/zerostate",
		"a hidden one":                      ".zerostate",
	} {
		file := filepath.Join(t.TempDir(), path)
		folder := filepath.Dir(file)
		if err := os.MkdirAll(filepath.Join(folder, "a_zerostates"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{file: string(want), filepath.Join(folder, "zerostate_a"): "another", filepath.Join(folder, "state"): "no zerostate"} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := zerostateIn(folder, sha256.Sum256(want)); err != nil || string(got) != string(want) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
		if got, err := zerostateIn(folder, sha256.Sum256([]byte("no zerostate"))); err != nil || got != nil {
			t.Errorf("%s: a file of another name: %q, %v", what, got, err)
		}
	}
	if got, err := zerostateIn(filepath.Join(t.TempDir(), "none"), sha256.Sum256(want)); err != nil || got != nil {
		t.Errorf("without the folder: %q, %v", got, err)
	}
}

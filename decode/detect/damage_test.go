package detect

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tonscribe/internal/localstore"
	"tonscribe/internal/stage"
)

func TestAFlippedBitInTheStoreIsAnErrorWithAWayOut(t *testing.T) {
	dir := t.TempDir()
	configuration := DefaultConfiguration()
	configuration.Dir = dir
	value := func(n uint32) []byte { return fmt.Appendf(nil, "entry %d", n) }
	s, err := stage.OpenStore(configuration.store(zerolog.Nop()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint32(2000) {
		if err := s.Set(value(n), keyEntry, number(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Mark(7), s.Commit(), s.Flush(), s.Close()); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables %v, %v", tables, err)
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for _, path := range append(tables, manifests...) {
		original, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			flipped := bytes.Clone(original)
			flipped[i*len(flipped)/6] ^= 1 << i
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(copied, filepath.Base(path)), flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			configuration.Dir = copied
			err := lookAll(configuration, value)
			if err == nil {
				continue
			}
			damaged++
			if !errors.Is(err, localstore.ErrDamaged) || !strings.Contains(err.Error(), copied) || !strings.Contains(err.Error(), "delete the folder") {
				t.Errorf("a flipped bit in %s: %v, want an error that says what to do", filepath.Base(path), err)
			}
		}
	}
	if damaged < 6 {
		t.Errorf("%d flipped bits were noticed, want every one in a table at least", damaged)
	}
}

// lookAll opens a store and reads everything; what is not as it was written is
// an error of its own.
func lookAll(configuration Configuration, want func(n uint32) []byte) error {
	s, err := stage.OpenStore(configuration.store(zerolog.Nop()))
	if err != nil {
		return err
	}
	defer s.Close()
	for n := range uint32(2000) {
		got, err := s.Get(keyEntry, number(n))
		if err != nil {
			return err
		}
		if got != nil && !bytes.Equal(got, want(n)) || got == nil && s.Marker() != 0 {
			return fmt.Errorf("entry %d is %q at marker %d", n, got, s.Marker())
		}
	}
	return nil
}

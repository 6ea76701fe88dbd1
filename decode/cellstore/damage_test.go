package cellstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/internal/localstore"
	"tonscribe/internal/report"
)

// kindOf is what a file of the database is: CURRENT's successor is a marker.
func kindOf(name string) string {
	for _, kind := range []string{"MANIFEST", "OPTIONS", "marker", "LOCK"} {
		if strings.HasPrefix(name, kind) {
			return kind
		}
	}
	return filepath.Ext(name)
}

// look opens the store of a folder and reads everything in it. The error is nil
// when all answers agree with a mark.
func look(t *testing.T, dir string) error {
	t.Helper()
	c := DefaultConfiguration()
	c.Dir = dir
	s, err := Open(c, Dependencies{Report: report.Silent()})
	if err != nil {
		return err
	}
	defer s.Close()
	mark, err := s.Mark(3)
	if err != nil {
		return err
	}
	for n := range 3000 {
		hash := hashOf(n)
		record, err := s.Get(&hash)
		if err != nil {
			return err
		}
		if record != nil && !bytes.Equal(record, recordOf(n)) {
			t.Errorf("cell %d has record %q", n, record)
		}
		if record == nil && n < int(mark) {
			t.Errorf("cell %d is gone, and the mark says %d", n, mark)
		}
	}
	return nil
}

func TestAFlippedBitIsAnErrorWithAWayOutAndNeverAWrongAnswer(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, 0, 2000)
	if err := s.young.Flush(); err != nil {
		t.Fatal(err)
	}
	put(t, s, 2000, 3000)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, generationPrefix+"1")
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, entry := range entries {
		original, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		kind := kindOf(entry.Name())
		const places = 6
		for i := range min(places, len(original)) {
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			damaged := bytes.Clone(original)
			damaged[i*len(damaged)/min(places, len(original))] ^= 1 << (i % 8)
			path := filepath.Join(copied, filepath.Base(folder), entry.Name())
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			err := look(t, copied)
			if err == nil {
				found[kind+" harmless"]++
				continue
			}
			found[kind+" damaged"]++
			if !errors.Is(err, localstore.ErrDamaged) || !strings.Contains(err.Error(), "delete the folder "+copied) {
				t.Errorf("a flipped bit in %s: %v, want an error that says what to delete", entry.Name(), err)
			}
		}
	}
	t.Log(found)
	for _, want := range []string{".sst damaged", "MANIFEST damaged"} {
		if found[want] == 0 {
			t.Errorf("nothing is %s: %v", want, found)
		}
	}
}

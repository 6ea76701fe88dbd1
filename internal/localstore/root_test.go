package localstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/rs/zerolog"

	"tonscribe/internal/localstore"
)

// open opens a database with a table in it, and says where that lies.
func open(t *testing.T) (db *localstore.DB, table string) {
	t.Helper()
	s := localstore.Store{Dir: t.TempDir(), Remedy: "delete it", Log: zerolog.Nop()}
	db, err := s.Open(&pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 1000 {
		if err := db.Set(fmt.Appendf(nil, "key %d", n), []byte("value"), pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(s.Dir, "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %v, %v; want one", tables, err)
	}
	return db, tables[0]
}

func refuses(t *testing.T, db *localstore.DB, what error, dir string) {
	t.Helper()
	for range 2 {
		err := db.Do(func() error { return db.Set([]byte("key"), nil, pebble.Sync) })
		if !errors.Is(err, what) || !localstore.Final(err) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "delete it") {
			t.Errorf("writing gives %v, want %v with the folder and the way out", err, what)
		}
	}
}

func TestAStoreThatCannotBeWrittenIsAnErrorForEverybodyWhoWaitsForIt(t *testing.T) {
	db, table := open(t)
	if err := os.RemoveAll(filepath.Dir(table)); err != nil {
		t.Fatal(err)
	}
	err := db.Do(func() error {
		if err := db.Set([]byte("key"), nil, pebble.NoSync); err != nil {
			return err
		}
		return db.Flush() // begins another log
	})
	if !errors.Is(err, localstore.ErrStopped) {
		t.Errorf("flushing gives %v, want %v", err, localstore.ErrStopped)
	}
	refuses(t, db, localstore.ErrStopped, filepath.Dir(table))
	if err := db.Close(); err != nil && !errors.Is(err, localstore.ErrStopped) {
		t.Errorf("closing gives %v", err)
	}
}

func TestAStoreTakesNothingMoreOnceDamageWasSeen(t *testing.T) {
	db, table := open(t)
	content, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	content[100] ^= 4
	if err := os.WriteFile(table, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.Get([]byte("key 1")); !pebble.IsCorruptionError(err) {
		t.Fatalf("reading a damaged table gives %v", err)
	}
	refuses(t, db, localstore.ErrDamaged, filepath.Dir(table))
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// It would be tried for ever.
func TestAFolderThatNobodyMayWriteToIsFinal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(file, "store")
	_, err := localstore.Store{Dir: dir, Log: zerolog.Nop()}.Open(&pebble.Options{})
	if !localstore.Final(err) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "name another one") {
		t.Errorf("a store inside of a file: %v", err)
	}
}

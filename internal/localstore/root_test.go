package localstore_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
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

// fullDisk takes nothing into files of one kind, once it is full.
type fullDisk struct {
	vfs.FS
	category vfs.DiskWriteCategory
	full     *atomic.Bool
}

type fullFile struct {
	vfs.File
	full *atomic.Bool
}

func (d fullDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := d.FS.Create(name, category)
	if err != nil || category != d.category {
		return file, err
	}
	return fullFile{file, d.full}, nil
}

// Preallocate may fail: Pebble does without.
func (fullFile) Preallocate(int64, int64) error { return syscall.ENOSPC }

func (f fullFile) Write(p []byte) (int, error) {
	if f.full.Load() {
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}

// Nobody waits for the log of what is not synced: Pebble closes it when a table of
// memory is full, and would end the process where that fails.
func TestAFullDiskUnderTheLogIsAnErrorForWhoeverWritesNext(t *testing.T) {
	disk := fullDisk{vfs.Default, "pebble-wal", &atomic.Bool{}}
	s := localstore.Store{Dir: t.TempDir(), Remedy: "delete it", Log: zerolog.Nop()}
	db, err := s.Open(&pebble.Options{FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Set([]byte("key"), []byte("value"), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	disk.full.Store(true)
	for n := 0; err == nil && n < 1000; n++ {
		err = db.Do(func() error { return db.Set(fmt.Appendf(nil, "key %d", n), make([]byte, 100<<10), pebble.NoSync) })
	}
	if !errors.Is(err, localstore.ErrStopped) || !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		t.Errorf("writing gives %v, want %v with its reason", err, localstore.ErrStopped)
	}
	refuses(t, db, localstore.ErrStopped, s.Dir)
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

func TestAFolderThatAStoreMakesIsForItsUserAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stage", "store")
	db, err := localstore.Store{Dir: dir, Log: zerolog.Nop()}.Open(&pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, folder := range []string{dir, filepath.Dir(dir)} {
		is, err := os.Stat(folder)
		if err != nil {
			t.Fatal(err)
		}
		if got := is.Mode().Perm(); got != 0o700 {
			t.Errorf("%s: %v, want its user alone", folder, got)
		}
	}
}

// folderOfAnother names the store that another run of this test has open.
const folderOfAnother = "TONSCRIBE_TEST_FOLDER_OF_ANOTHER"

func TestAFolderThatAnotherProcessHasOpenIsSaidToBeInUse(t *testing.T) {
	if dir := os.Getenv(folderOfAnother); dir != "" {
		s := localstore.Store{Dir: dir, Remedy: "delete it", Log: zerolog.Nop()}
		if _, err := s.Open(&pebble.Options{}); !errors.Is(err, localstore.ErrInUse) || localstore.Final(err) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v, want that the folder is in use", err)
		}
		return
	}
	db, table := open(t)
	other := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	other.Env = append(os.Environ(), folderOfAnother+"="+filepath.Dir(table))
	if out, err := other.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

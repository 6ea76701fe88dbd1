package localstore

import (
	"errors"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fullAfter takes files, but nothing into them, or not even files.
type fullAfter struct {
	vfs.FS
	creates bool
}

type fullOne struct{ vfs.File }

func (fullOne) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func (d fullAfter) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if !d.creates {
		return nil, syscall.ENOSPC
	}
	file, err := d.FS.Create(name, category)
	return fullOne{file}, err
}

// Pebble makes a table again as soon as it could not be written, however often, and logs it.
func TestATableThatCannotBeWrittenIsPausedFor(t *testing.T) {
	for _, creates := range []bool{true, false} {
		pauses := 0
		f := files{fullAfter{vfs.NewMem(), creates}, t.Fatalf, func() { pauses++ }}
		file, err := f.Create("000001.sst", "pebble-memtable-flush")
		if err == nil {
			_, err = file.Write([]byte("row"))
		}
		if !errors.Is(err, syscall.ENOSPC) || pauses != 1 {
			t.Errorf("creates %t: %v after %d pauses, want one and that the disk is full", creates, err, pauses)
		}
	}
}

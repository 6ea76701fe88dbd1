package localstore

import (
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// files are those of a store. Pebble learns of a log that could not be written when
// it closes it, and ends the process then by a panic that nobody can catch: whoever
// writes to one tells before that, and does not return. A table that could not be
// written it makes again at once: whoever writes to one pauses before that.
type files struct {
	vfs.FS
	failed func(format string, args ...any)
	pause  func()
}

// beforeAnother is how long it takes until a table is tried again.
const beforeAnother = time.Second

func pause() { time.Sleep(beforeAnother) }

// logCategory is what Pebble calls the writing of its log, tableCategories that of tables.
const logCategory = "pebble-wal"

var tableCategories = []vfs.DiskWriteCategory{"pebble-memtable-flush", "pebble-compaction"}

func (f files) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, category)
	return f.watched(file, err, category)
}

func (f files) ReuseForWrite(before, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(before, name, category)
	return f.watched(file, err, category)
}

func (f files) Unwrap() vfs.FS { return f.FS }

func (f files) watched(file vfs.File, err error, category vfs.DiskWriteCategory) (vfs.File, error) {
	switch {
	case category == logCategory && err == nil:
		return logFile{file, f.failed}, nil
	case !slices.Contains(tableCategories, category):
		return file, err
	case err != nil:
		f.pause()
		return nil, err
	}
	return tableFile{file, f.pause}, nil
}

// tableFile is a file of a table.
type tableFile struct {
	vfs.File
	pause func()
}

func (t tableFile) pausing(err error) error {
	if err != nil {
		t.pause()
	}
	return err
}

func (t tableFile) Write(p []byte) (int, error) {
	n, err := t.File.Write(p)
	return n, t.pausing(err)
}

func (t tableFile) Sync() error { return t.pausing(t.File.Sync()) }

// logFile is a file of the log.
type logFile struct {
	vfs.File
	failed func(format string, args ...any)
}

func (l logFile) failing(err error) error {
	if err != nil {
		l.failed("log: %w", err)
	}
	return err
}

func (l logFile) Write(p []byte) (int, error) {
	n, err := l.File.Write(p)
	return n, l.failing(err)
}

func (l logFile) Sync() error { return l.failing(l.File.Sync()) }

func (l logFile) SyncData() error { return l.failing(l.File.SyncData()) }

func (l logFile) SyncTo(length int64) (bool, error) {
	full, err := l.File.SyncTo(length)
	return full, l.failing(err)
}

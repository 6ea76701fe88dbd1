package localstore

import "github.com/cockroachdb/pebble/v2/vfs"

// files are those of a store. Pebble learns of a log that could not be written when
// it closes it, and ends the process then by a panic that nobody can catch: whoever
// writes to one tells before that, and does not return.
type files struct {
	vfs.FS
	failed func(format string, args ...any)
}

// logCategory is what Pebble calls the writing of its log.
const logCategory = "pebble-wal"

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
	if err != nil || category != logCategory {
		return file, err
	}
	return logFile{file, f.failed}, nil
}

// logFile is a file of the log.
type logFile struct {
	vfs.File
	failed func(format string, args ...any)
}

func (l logFile) told(err error) error {
	if err != nil {
		l.failed("log: %w", err)
	}
	return err
}

func (l logFile) Write(p []byte) (int, error) {
	n, err := l.File.Write(p)
	return n, l.told(err)
}

func (l logFile) Sync() error { return l.told(l.File.Sync()) }

func (l logFile) SyncData() error { return l.told(l.File.SyncData()) }

func (l logFile) SyncTo(length int64) (bool, error) {
	full, err := l.File.SyncTo(length)
	return full, l.told(err)
}

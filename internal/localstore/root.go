// Package localstore opens Pebble databases that the program can build anew, in
// such a way that damage on the disk is an error with a way out.
//
// In: a folder, options, and what it takes to build the store again. Out: the
// database, and errors that name the folder and the way out where what was read
// is not what was written, or where nothing can be written. Of itself Pebble ends
// the process when it meets either. The package must never delete anything, never
// give an answer out of damaged data, and never say that something is written
// that is not.
package localstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
)

// ErrDamaged says that a file of a store does not hold what was written.
var ErrDamaged = errors.New("the store is damaged")

// ErrStopped says that Pebble cannot go on: its log or its list of files cannot be
// written, or its folder.
var ErrStopped = errors.New("the store cannot be written")

// ErrInUse says that another process has the folder open.
var ErrInUse = errors.New("another process has the store open: stop it, or name another folder")

// Final reports whether an error stays until somebody does something about the
// store.
func Final(err error) bool { return errors.Is(err, ErrDamaged) || errors.Is(err, ErrStopped) }

// Store says where a database lies, and how to come by another one.
type Store struct {
	Dir string
	// Remedy is what to do about damage, and what it costs.
	Remedy string
	Log    zerolog.Logger
}

// DB is an open database. What changes it, or needs its locks, goes through Do.
type DB struct {
	*pebble.DB
	store     Store
	once      sync.Once
	failed    chan struct{} // closed when failure is set
	failure   error
	stopped   chan struct{} // closed when Pebble holds locks for ever
	stopOnce  sync.Once
	abandoned atomic.Bool // work goes on that nobody waits for
}

// Open opens the database with the options, whose logger and listener it sets. It
// looks at what becomes of their files.
func (s Store) Open(o *pebble.Options) (*DB, error) {
	db := &DB{store: s, failed: make(chan struct{}), stopped: make(chan struct{})}
	o.Logger = logger{db}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	o.FS = files{o.FS, o.Logger.Fatalf, pause}
	o.EventListener = &pebble.EventListener{
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			err := s.damaged(info.Details)
			s.Log.Error().Str("file", info.Path).Err(err).Msg("a file is damaged")
			db.fail(err)
		},
		BackgroundError: func(err error) {
			err = s.Explain(err)
			s.Log.Error().Str("folder", s.Dir).Err(err).Msg("work in the background failed")
			if errors.Is(err, ErrDamaged) {
				db.fail(err)
			}
		},
	}
	err := db.await(func() (err error) {
		defer func() {
			if broken := recover(); broken != nil {
				err = s.damaged(fmt.Errorf("%v", broken))
			}
		}()
		if err := os.MkdirAll(s.Dir, 0o700); err != nil {
			return err
		}
		db.DB, err = pebble.Open(s.Dir, o)
		return err
	})
	var system syscall.Errno
	switch {
	case err == nil:
		return db, nil
	case Final(err):
		return nil, err
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOTDIR):
		return nil, fmt.Errorf("%w: %s: let this process write to the folder, or name another one (%w)", ErrStopped, s.Dir, err)
	case errors.Is(err, syscall.EAGAIN): // of its lock
		return nil, fmt.Errorf("%w: %s (%w)", ErrInUse, s.Dir, err)
	case errors.As(err, &system) && !pebble.IsCorruptionError(err) && system != syscall.ENOENT && system != syscall.EINVAL:
		return nil, err // a full disk
	}
	return nil, s.damaged(err)
}

// await does work to its end, unless Pebble holds locks for ever.
func (db *DB) await(work func() error) error { return db.until(db.stopped, work) }

// until does work to its end, or leaves it to itself when something has ended.
func (db *DB) until(ended <-chan struct{}, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return db.store.Explain(err)
	case <-ended:
		db.abandoned.Store(true)
		return db.failure
	}
}

// Do does work on the database, and gives up where that has failed for good: then
// Pebble holds locks for ever, or lets writers wait for what does not come. What
// the work uses belongs to it.
func (db *DB) Do(work func() error) error {
	select {
	case <-db.failed:
		return db.failure
	default:
	}
	return db.until(db.failed, work)
}

// Close closes the database. One in which something goes on for ever stays open
// until the process ends, as after a kill.
func (db *DB) Close() error {
	if db.abandoned.Load() {
		return nil
	}
	return db.await(db.DB.Close)
}

func (db *DB) fail(err error) {
	db.once.Do(func() {
		db.failure = err
		close(db.failed)
	})
}

// Explain adds the way out to an error that tells of damage.
func (s Store) Explain(err error) error {
	if err == nil || Final(err) || !pebble.IsCorruptionError(err) {
		return err
	}
	return s.damaged(err)
}

func (s Store) damaged(err error) error {
	reason, _, _ := strings.Cut(err.Error(), "\n") // Pebble's go on with marks of its own
	return fmt.Errorf("%w: %s: %s (%s)", ErrDamaged, s.Dir, s.Remedy, reason)
}

// logger drops what Pebble says of its compactions.
type logger struct{ db *DB }

func (logger) Infof(string, ...any)  {}
func (logger) Errorf(string, ...any) {}

// endLimit bounds how long the program may take to end in order.
const endLimit = time.Minute

// Fatalf does not return: Pebble would go on as if what failed had been written.
// Whoever waits for the database gets an error, so that the program ends in order.
// What was committed is on the disk, as after a kill.
func (l logger) Fatalf(format string, args ...any) {
	s := l.db.store
	reason := fmt.Errorf(format, args...)
	s.Log.Error().Str("folder", s.Dir).Err(reason).Msg("the store cannot be written")
	l.db.fail(fmt.Errorf("%w: %s: start again when its disk can be written; if it does not open then, %s (%w)", ErrStopped, s.Dir, s.Remedy, reason))
	l.db.stopOnce.Do(func() { close(l.db.stopped) })
	time.Sleep(endLimit)
	os.Exit(1)
}

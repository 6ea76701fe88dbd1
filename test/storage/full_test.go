package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/test/support/harness"
)

// diskBytes is the size of the disks that are filled, and keptFree what must stay
// free of them.
const (
	diskBytes = 768 << 20
	keptFree  = 128 << 20
)

// mount makes a small file system of its own for a test, or skips it.
func mount(t *testing.T, kind string) string {
	t.Helper()
	at := t.TempDir()
	var err error
	var out []byte
	if kind == "tmpfs" {
		err = syscall.Mount("tmpfs", at, "tmpfs", 0, fmt.Sprintf("size=%d", diskBytes))
	} else {
		image := filepath.Join(t.TempDir(), "disk")
		out, err = exec.Command("sh", "-c", fmt.Sprintf("truncate -s %d %s && mkfs.ext4 -q -F %s && mount -o loop %s %s", diskBytes, image, image, image, at)).CombinedOutput()
	}
	if err != nil {
		t.Skipf("a disk of %s cannot be mounted here: %v %s", kind, err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", at).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return at
}

// hog is another program that takes all of a disk, and whatever comes free, until
// it is released.
type hog struct {
	file  *os.File
	stop  chan struct{}
	ended chan error
}

func fill(t *testing.T, dir string) *hog {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	h := &hog{file: file, stop: make(chan struct{}), ended: make(chan error, 1)}
	go func() { h.ended <- h.take(dir) }()
	t.Cleanup(h.release)
	return h
}

// take takes most of it at once, so that the moment is one.
func (h *hog) take(dir string) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return err
	}
	size := int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // as in internal/space
	if err := syscall.Fallocate(int(h.file.Fd()), 0, 0, size); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	if _, err := h.file.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	chunk := make([]byte, 1<<20)
	for n := len(chunk); ; {
		select {
		case <-h.stop:
			return nil
		default:
		}
		_, err := h.file.Write(chunk[:n])
		switch {
		case err == nil:
		case !errors.Is(err, syscall.ENOSPC):
			return err
		case n > 1:
			n /= 2
		default:
			n = 1 << 16
			time.Sleep(time.Millisecond)
		}
	}
}

func (h *hog) release() {
	select {
	case <-h.stop:
		return
	default:
	}
	close(h.stop)
	<-h.ended
	os.Remove(h.file.Name())
	h.file.Close()
}

// fullRounds is how often each kind of disk is filled, and within what time after
// the start.
func fullRounds() (rounds int, within time.Duration) {
	if long() {
		return 20, 5 * time.Second
	}
	return 1, time.Second
}

// A disk is filled to its last byte by somebody else while rows are inserted and
// parts are merged. What is lost by that is told of, and brought back.
func TestAFullDiskLosesNothing(t *testing.T) {
	for n, kind := range []string{"tmpfs", "ext4"} {
		_, want := undisturbed(t)
		random := rand.New(rand.NewPCG(uint64(n), 17))
		rounds, within := fullRounds()
		for round := range rounds {
			after, held := time.Duration(random.Int64N(int64(within))), 200*time.Millisecond+time.Duration(random.Int64N(int64(within/2)))
			t.Run(fmt.Sprintf("%s/%d", kind, round), func(t *testing.T) {
				f := &fullDisk{index: newIndex(t, filepath.Join(mount(t, kind), "data"),
					fmt.Sprintf("TONSCRIBE_STORAGE_MIN_FREE_BYTES=%d", keptFree), "TONSCRIBE_STORAGE_MIN_FREE_INODES=1000")}
				f.round(after, held)
				f.holds(want)
				t.Logf("filled after %s for %s: it %s", after, held, f.outcome)
			})
		}
	}
}

// What the engine writes of a new table on a full disk may be nothing.
func TestTablesAreNotMadeOnAFullDisk(t *testing.T) {
	i := newIndex(t, filepath.Join(t.TempDir(), "data"), fmt.Sprintf("TONSCRIBE_STORAGE_MIN_FREE_BYTES=%d", int64(1)<<55))
	i.start()
	harness.Await(t, time.Minute, func() bool {
		return strings.Contains(i.process.Output(), "the tables are made when there is room") || i.serves()
	}, i.process.Output)
	made, err := filepath.Glob(filepath.Join(i.data, "clickhouse/data/store/*/*/*.sql"))
	if err != nil || len(made) > 0 || i.serves() {
		t.Errorf("%d tables are made, %v:\n%s", len(made), err, i.process.Output())
	}
	i.process.Stop()
}

// fullDisk is an index on a disk that is filled.
type fullDisk struct {
	*index
	outcome string
}

// round fills the disk for a while, and brings the index back to its end. In the
// short form that is at a moment after the start, in the long form at any.
func (f *fullDisk) round(after, held time.Duration) {
	f.Helper()
	f.start()
	if !long() {
		harness.Await(f.T, 2*time.Minute, f.serves, f.process.Output)
	}
	merging := f.merge()
	time.Sleep(after)
	filler := fill(f.T, filepath.Dir(f.data))
	harness.Await(f.T, time.Minute, func() bool {
		status, text := f.readyz()
		return !f.process.Running() || !f.serves() || status == http.StatusServiceUnavailable && strings.Contains(text, "nearly full") && strings.Contains(text, "128.0 MiB must be")
	}, func() string { _, text := f.readyz(); return "/readyz does not tell of the full disk: " + text })
	time.Sleep(held)
	filler.release()
	merging()
	f.outcome = "went on by itself"
	if f.damaged(); f.process.Running() {
		f.process.Stop()
	} else {
		f.outcome = "ended"
	}
	f.start()
	if f.damaged() {
		f.outcome += ", was repaired"
		f.process.Stop()
		f.Log(f.repair("--source", f.source))
		f.start()
	}
}

func (i *index) serves() bool { return strings.Contains(i.process.Output(), `"message":"serving"`) }

// damaged waits until the index is at its end, or tells of damage, or ends.
func (f *fullDisk) damaged() (damaged bool) {
	f.Helper()
	var text string
	harness.Await(f.T, 2*time.Minute, func() bool {
		var status int
		status, text = f.readyz()
		damaged = strings.Contains(text, "tonscribe repair --data "+f.data)
		return status == http.StatusOK || damaged || !f.process.Running()
	}, func() string { return "/readyz goes on saying " + text })
	return damaged
}

// merge lets the engine merge all parts of all tables, again and again, until the
// end is called.
func (f *fullDisk) merge() (end func()) {
	ctx, cancel := context.WithCancel(f.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			for _, table := range []string{"transactions", "transactions_index", "messages_index", "accounts", "accounts_by_balance", "seals"} {
				// It fails before the start, and while the disk is full.
				_ = f.query(ctx, "OPTIMIZE TABLE "+table+" FINAL")
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// query runs a statement in the engine that the run file names.
func (f *fullDisk) query(ctx context.Context, statement string) error {
	var run harness.RunFile
	text, err := os.ReadFile(filepath.Join(f.data, "run.json"))
	if err != nil || json.Unmarshal(text, &run) != nil {
		time.Sleep(10 * time.Millisecond)
		return err
	}
	return execute(ctx, run.ClickHouse, statement)
}

// execute runs a statement as the user of the DSN.
func execute(ctx context.Context, dsn, statement string) error {
	options, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return err
	}
	connection, err := clickhouse.Open(options)
	if err != nil {
		return err
	}
	defer connection.Close()
	return connection.Exec(ctx, statement)
}

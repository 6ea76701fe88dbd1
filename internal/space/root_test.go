package space

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"tonscribe/internal/report"
)

// disk is one that a test fills.
type disk struct {
	mutex sync.Mutex
	now   Disk
	err   error
}

func (d *disk) measure(context.Context) ([]Disk, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return []Disk{d.now}, d.err
}

func (d *disk) set(now Disk) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.now = now
}

func newGuard(t *testing.T, c Configuration, d *disk) (*Guard, *strings.Builder) {
	log := &strings.Builder{}
	g := New(c, "test", d.measure, report.Reporter{Log: zerolog.New(log), Metrics: prometheus.NewRegistry()})
	return g, log
}

func TestWritersWaitBelowTheBoundAndGoOnWhenThereIsRoom(t *testing.T) {
	for name, c := range map[string]struct {
		configuration Configuration
		short         Disk
		says          []string
	}{
		"bytes":   {Configuration{MinFreeBytes: 1 << 30}, Disk{Name: "/d", Free: 1<<30 - 1, Total: 100 << 30}, []string{"/d", "1024.0 MiB of 100.0 GiB", "1.0 GiB must be", "storage.min_free_bytes"}},
		"percent": {Configuration{MinFreeBytes: 1, MinFreePercent: 5}, Disk{Name: "/d", Free: 4 << 30, Total: 100 << 30}, []string{"4.0 GiB of 100.0 GiB", "5.0 GiB must be"}},
		"inodes":  {Configuration{MinFreeInodes: 800}, Disk{Name: "/d", Free: 1, Total: 1, Inodes: 799, InodesTotal: 900}, []string{"799 of 900", "800 must be", "storage.min_free_inodes"}},
	} {
		d := &disk{now: c.short}
		g, log := newGuard(t, c.configuration, d)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := g.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: a writer was let through: %v", name, err)
		}
		cancel()
		err := g.Ready(t.Context())
		for _, part := range c.says {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v does not say %q", name, err, part)
			}
		}
		for range 50 {
			g.refresh(t.Context(), 0)
		}
		if n := strings.Count(log.String(), "writing stops"); n != 1 {
			t.Errorf("%s: %d log lines instead of 1", name, n)
		}
		passed := make(chan error)
		go func() { passed <- g.Wait(t.Context()) }()
		d.set(Disk{Name: "/d", Free: 100 << 30, Total: 100 << 30, Inodes: 900, InodesTotal: 900})
		g.refresh(t.Context(), 0)
		if err := <-passed; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := g.Ready(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := testutil.ToFloat64(g.metrics.waits); n < 1 {
			t.Errorf("%s: %v waits counted", name, n)
		}
	}
}

func TestAWriterThatStoppedNeedsMoreRoomThanTheBound(t *testing.T) {
	d := &disk{now: Disk{Free: 99, Total: 1000}}
	g, _ := newGuard(t, Configuration{MinFreeBytes: 800}, d)
	for _, step := range []struct {
		free int64
		room bool
	}{{799, false}, {800, false}, {899, false}, {900, true}, {800, true}, {799, false}} {
		d.set(Disk{Free: step.free, Total: 1000})
		g.refresh(t.Context(), 0)
		if err := g.Ready(t.Context()); (err == nil) != step.room {
			t.Fatalf("%d free: %v, want room: %v", step.free, err, step.room)
		}
	}
}

func TestADiskThatCannotBeMeasuredStopsNobody(t *testing.T) {
	d := &disk{err: errors.New("gone")}
	g, log := newGuard(t, DefaultConfiguration(), d)
	if err := g.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "gone") {
		t.Errorf("the log says nothing: %s", log)
	}
}

func TestFoldersThatAreNotThereYetAreMeasuredAboveThem(t *testing.T) {
	above := t.TempDir()
	for _, folder := range []string{above + "/a/b/c", above} {
		disks, err := Folders(folder)(t.Context())
		if err != nil || len(disks) != 1 || disks[0].Name != folder || disks[0].Total <= 0 {
			t.Errorf("%+v, %v", disks, err)
		}
	}
}

func TestADiskIsMeasuredOnceForAllOfItsFolders(t *testing.T) {
	above := t.TempDir()
	elsewhere := filepath.Join(above, "link")
	if err := os.Symlink("/proc", elsewhere); err != nil {
		t.Fatal(err)
	}
	disks, err := Folders(above, above+"/a", elsewhere, above+"/b")(t.Context())
	if err != nil || len(disks) != 2 || disks[0].Name != above || disks[1].Name != elsewhere {
		t.Errorf("%+v, %v; want the disks of %s and %s", disks, err, above, elsewhere)
	}
}

// A database that does not answer is no reason for a check, or for who is to stop, to hang.
func TestNobodyWaitsForAMeasurementLongerThanForItsContext(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	g := New(DefaultConfiguration(), "test", func(context.Context) ([]Disk, error) {
		close(began)
		<-end
		return nil, nil
	}, report.Silent())
	measured := make(chan struct{})
	go func() {
		defer close(measured)
		g.refresh(t.Context(), 0)
	}()
	<-began
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	for name, ask := range map[string]func(context.Context) error{"Ready": g.Ready, "Wait": g.Wait} {
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			_ = ask(ctx)
		}()
		select {
		case <-answered:
		case <-time.After(time.Minute):
			t.Errorf("%s waits for the measurement", name)
		}
	}
	close(end)
	<-measured
}

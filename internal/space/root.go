// Package space stops who writes before a disk is full. In come folders, or a
// question about the disks of a database; out comes a guard that writers wait at
// while less than a bound is free. A full disk costs more than the writes that
// fail: files end up empty without anybody being told. The package must never
// delete anything.
package space

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"

	"tonscribe/internal/lifetime"
	"tonscribe/internal/report"
)

// Configuration bounds what must stay free.
type Configuration struct {
	// MinFreeBytes and MinFreePercent of a disk stay free, whichever is more.
	MinFreeBytes   int64   `yaml:"min_free_bytes"`
	MinFreePercent float64 `yaml:"min_free_percent"`
	// MinFreeInodes stay free, of file systems that count them.
	MinFreeInodes int64 `yaml:"min_free_inodes"`
}

// DefaultConfiguration leaves room for what is under way when writers stop:
// batches, merges and compactions.
func DefaultConfiguration() Configuration {
	return Configuration{MinFreeBytes: 1 << 30, MinFreePercent: 1, MinFreeInodes: 5000}
}

// Validate refuses what makes no sense.
func (c Configuration) Validate() error {
	if c.MinFreeBytes < 0 || c.MinFreeInodes < 0 || c.MinFreePercent < 0 || c.MinFreePercent > 90 {
		return errors.New("storage: min_free_bytes and min_free_inodes may not be negative, and min_free_percent must be between 0 and 90")
	}
	return nil
}

// bound is how many bytes of a disk of the size must be free.
func (c Configuration) bound(total int64) int64 {
	return max(c.MinFreeBytes, int64(float64(total)*c.MinFreePercent/100))
}

// Bound is how many bytes of the folder's disk must be free.
func (c Configuration) Bound(folder string) (int64, error) {
	d, err := folderDisk(folder)
	if err != nil {
		return 0, err
	}
	return c.bound(d.Total), nil
}

// Disk is how much of a disk is free.
type Disk struct {
	Name        string
	Free, Total int64
	// Inodes are free ones, of InodesTotal; 0 of 0 where they are not counted.
	Inodes, InodesTotal int64

	device uint64 // of a folder
}

// Measure gives the state of disks.
type Measure func(ctx context.Context) ([]Disk, error)

// Folders measures the disks that the folders are on, each of them once. A folder
// that is not there yet is on the disk of the nearest one above it.
func Folders(folders ...string) Measure {
	return func(context.Context) ([]Disk, error) {
		var disks []Disk
		for _, folder := range folders {
			d, err := folderDisk(folder)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(disks, func(before Disk) bool { return before.device == d.device }) {
				disks = append(disks, d)
			}
		}
		return disks, nil
	}
}

func folderDisk(folder string) (Disk, error) {
	var s unix.Statfs_t
	var on unix.Stat_t
	for at := folder; ; {
		err := cmp.Or(unix.Statfs(at, &s), unix.Stat(at, &on))
		if err == nil {
			break
		}
		above := at[:max(0, strings.LastIndexByte(strings.TrimRight(at, "/"), '/'))]
		if !errors.Is(err, unix.ENOENT) || above == "" {
			return Disk{}, fmt.Errorf("free space of %s: %w", folder, err)
		}
		at = above
	}
	size := int64(s.Bsize) //nolint:unconvert // of another size on other systems
	return Disk{
		Name: folder, Free: int64(s.Bavail) * size, Total: int64(s.Blocks) * size,
		Inodes: int64(s.Ffree), InodesTotal: int64(s.Files), device: uint64(on.Dev), //nolint:unconvert // of another size on other systems
	}, nil
}

const (
	// pollEvery is how often disks are measured, and fresh how old a measurement
	// may be when somebody is about to write.
	pollEvery = 500 * time.Millisecond
	fresh     = 100 * time.Millisecond
	// quiet is the least time between two log lines about the same disk.
	quiet = 30 * time.Second
)

// Guard is what writers wait at. It is safe for use by many goroutines. Who waits
// when it stops goes on waiting for its context.
type Guard struct {
	configuration Configuration
	what          string // that stops
	measure       Measure
	report        report.Reporter
	metrics       metrics
	*lifetime.Run

	looking  chan struct{} // has a value while one does
	measured time.Time     // by who looks

	mutex    sync.Mutex
	short    error         // why writers wait; nil when they need not
	changed  chan struct{} // closed when short becomes nil
	reported time.Time
}

type metrics struct {
	free, inodes, bound *prometheus.GaugeVec
	stopped             prometheus.Gauge
	waits               prometheus.Counter
}

// New makes a guard of the disks. What names, in the log, what waits at it.
func New(configuration Configuration, what string, measure Measure, r report.Reporter) *Guard {
	m := r.Meter("storage").With("what", what)
	return &Guard{
		configuration: configuration, what: what, measure: measure, report: r, Run: lifetime.NewRun(), looking: make(chan struct{}, 1),
		metrics: metrics{
			free:    m.Gauges("free_bytes", "Bytes that are free.", "disk"),
			inodes:  m.Gauges("free_inodes", "Inodes that are free.", "disk"),
			bound:   m.Gauges("min_free_bytes", "Bytes that must be free for anything to be written.", "disk"),
			stopped: m.Gauge("stopped", "1 while nothing is written because a disk is nearly full."),
			waits:   m.Counter("waits_total", "Writes that had to wait for free space."),
		},
	}
}

// Start begins to measure.
func (g *Guard) Start(ctx context.Context) error {
	g.refresh(ctx, 0)
	g.Run.Start(func(ctx context.Context) error {
		for lifetime.Sleep(ctx, pollEvery) == nil {
			g.refresh(ctx, 0)
		}
		return nil
	})
	return nil
}

// Ready is nil when there is room, and otherwise says how much is free and how
// much must be.
func (g *Guard) Ready(context.Context) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.short
}

// Wait returns when there is room to write, or with ctx.
func (g *Guard) Wait(ctx context.Context) error {
	for waited := false; ; waited = true {
		g.refresh(ctx, fresh)
		g.mutex.Lock()
		short, changed := g.short, g.changed
		g.mutex.Unlock()
		if short == nil {
			return nil
		}
		if !waited {
			g.metrics.waits.Inc()
		}
		select {
		case <-changed:
		case <-time.After(pollEvery): // whether the guard measures by itself or not
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// refresh measures when the last measurement is older than age, unless ctx ends before.
func (g *Guard) refresh(ctx context.Context, age time.Duration) {
	select {
	case g.looking <- struct{}{}:
		defer func() { <-g.looking }()
	case <-ctx.Done():
		return
	}
	if age > 0 && time.Since(g.measured) < age {
		return
	}
	disks, err := g.measure(ctx)
	g.measured = time.Now()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if err != nil {
		// A disk that cannot be measured stops nobody: its writes tell.
		if ctx.Err() == nil && g.quietSince() {
			g.report.Log.Warn().Err(err).Str("what", g.what).Msg("free space could not be measured")
		}
		return
	}
	var short error
	for _, d := range disks {
		bound := g.configuration.bound(d.Total)
		g.metrics.free.WithLabelValues(d.Name).Set(float64(d.Free))
		g.metrics.inodes.WithLabelValues(d.Name).Set(float64(d.Inodes))
		g.metrics.bound.WithLabelValues(d.Name).Set(float64(bound))
		if err := g.shortOf(d, bound); err != nil && short == nil {
			short = err
		}
	}
	g.set(short)
}

// shortOf says what a disk is short of. Who has stopped goes on when an eighth
// more is free, so that it does not stop at every write.
func (g *Guard) shortOf(d Disk, bound int64) error {
	more := int64(8)
	if g.short != nil {
		more = 9
	}
	switch {
	case d.Free < bound/8*more:
		return fmt.Errorf("the disk of %s is nearly full: %s of %s are free, %s must be (storage.min_free_bytes, storage.min_free_percent); "+
			"nothing is written until there is room", d.Name, bytes(d.Free), bytes(d.Total), bytes(bound))
	case d.InodesTotal > 0 && d.Inodes < g.configuration.MinFreeInodes/8*more:
		return fmt.Errorf("the disk of %s is nearly out of inodes: %d of %d are free, %d must be (storage.min_free_inodes); "+
			"nothing is written until there are more", d.Name, d.Inodes, d.InodesTotal, g.configuration.MinFreeInodes)
	}
	return nil
}

func (g *Guard) set(short error) {
	switch {
	case short != nil:
		g.metrics.stopped.Set(1)
		if g.quietSince() {
			g.report.Log.Error().Err(short).Str("what", g.what).Msg("writing stops")
		}
		if g.short == nil {
			g.changed = make(chan struct{})
		}
	case g.short != nil:
		g.metrics.stopped.Set(0)
		close(g.changed)
		g.report.Log.Info().Str("what", g.what).Msg("there is room again, writing goes on")
		g.reported = time.Time{}
	}
	g.short = short
}

func (g *Guard) quietSince() bool {
	if time.Since(g.reported) < quiet {
		return false
	}
	g.reported = time.Now()
	return true
}

// bytes is a size for people.
func bytes(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

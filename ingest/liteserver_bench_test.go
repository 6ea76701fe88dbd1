package ingest

import (
	"context"
	"slices"
	"testing"
	"time"

	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
	"tonscribe/test/support/litetest"
)

// BenchmarkSources compares how fast the same blocks come from a lite server, in
// the same process, and from files.
func BenchmarkSources(b *testing.B) {
	const blocks, transactions = 200, 200
	d := litetest.NewDevnet(b, 1, 1)
	d.Grow(b, blocks-1, transactions)
	dir := b.TempDir()
	d.Write(b, dir)
	for name, source := range map[string]string{"files": "files:" + dir, "liteserver": "liteserver:" + d.Config(b)} {
		b.Run(name, func(b *testing.B) {
			var got Status
			for b.Loop() {
				c := DefaultConfiguration()
				c.Source, c.From, c.To = source, 1, blocks
				got = run(b, c, &discard{})
			}
			seconds := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(float64(got.Blocks)/seconds, "blocks/s")
			b.ReportMetric(float64(got.Bytes)/seconds/1e6, "MB/s")
		})
	}
}

func run(b *testing.B, c Configuration, log Publisher) Status {
	b.Helper()
	made, err := New(c, Dependencies{Report: report.Silent(), Log: log})
	if err != nil {
		b.Fatal(err)
	}
	if err := made.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	<-made.Done()
	if err := errorOf(made); err != nil {
		b.Fatal(err)
	}
	return made.Status()
}

func errorOf(made *Component) error {
	if err := made.Err(); err != nil {
		return err
	}
	return made.Stop(context.Background())
}

// discard is a log that keeps nothing, and says when a seal came.
type discard struct{ sealed chan time.Time }

func (d *discard) Partitions() int { return 1 }

func (d *discard) First(context.Context, string, int) (*record.Record, bool, error) {
	return nil, true, nil
}

func (d *discard) LastSeal(context.Context, string, int) (*record.Record, error) { return nil, nil }

func (d *discard) Publish(_ context.Context, _ string, _ int, records []*record.Record) error {
	for _, r := range records {
		if r.GetSeal() != nil && d.sealed != nil {
			d.sealed <- time.Now()
		}
	}
	return nil
}

// BenchmarkFromProducedToPublished is the time from when the chain has stored a
// bundle until it is in the log, proofs included.
func BenchmarkFromProducedToPublished(b *testing.B) {
	d := litetest.NewDevnet(b, 1, 5)
	c := DefaultConfiguration()
	c.Source, c.From, c.Proofs = "liteserver:"+d.Config(b), 6, lite.Secure
	log := &discard{sealed: make(chan time.Time, 1)}
	made, err := New(c, Dependencies{Report: report.Silent(), Log: log})
	if err != nil {
		b.Fatal(err)
	}
	if err := made.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		d.Grow(b, 1, 100)
		produced := time.Now()
		took = append(took, (<-log.sealed).Sub(produced))
	}
	if err := made.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

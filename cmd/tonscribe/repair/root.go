// Package repair brings back rows that tables have lost.
//
// In: the tables, what is known of damage to them, the log that they were filled
// from, and a source of the blocks. Out: the rows of all bundles since the first
// one that lacks something, of the tables concerned, and no part that lies aside or
// cannot be read. Rows come from the log where it still has these bundles,
// otherwise from the stages before the sink, which decode the blocks once more
// beside the index. Rows that are there already are replaced by their equals, so a
// run may be cut off at any moment and begun again. The package must never take a
// part away before its rows are back.
package repair

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/internal/parts"
	"tonscribe/internal/report"
	"tonscribe/sink"
)

// Options of a run.
type Options struct {
	// Tables are reached as the user that owns them, and Watch looks after them.
	Tables *clickhouse.Client
	Watch  *parts.Watch
	// MakeTables makes those that are missing.
	MakeTables func(context.Context) error
	// Log opens the log that the tables were filled from; nil where there is none.
	Log func(context.Context) (*kafka.Client, error)
	// Source is asked for when the log does not suffice. It is an error when no
	// source is named.
	Source func(context.Context) (*Source, error)
	// Partitions of every topic.
	Partitions int
	Sink       sink.Configuration
	Report     report.Reporter
	// DryRun tells what would be done, and SkipChecksums leaves out the verification
	// of all files.
	DryRun, SkipChecksums bool
	// Out gets lines, and Progress one that replaces the one before.
	Out      io.Writer
	Progress func(line string)
}

// Source gives blocks once more.
type Source struct {
	Name string
	// Open prepares to decode a range of bundles.
	Open func(context.Context, Range) (*Decoding, error)
}

// Range is what is decoded.
type Range struct {
	From, To uint32
	// LeaveOut reports whether the index has a gap where a bundle would be.
	LeaveOut func(mcSeqno uint32) bool
	// Contracts and Traces say that the topics of these names are needed, too.
	Contracts, Traces bool
}

// Decoding is the stages before the sink, beside those of the index.
type Decoding struct {
	Log   *kafka.Client // of their own, empty
	Start func(context.Context) error
	Ended <-chan error // gets why a stage ended before its time
	Stop  func() error
}

// ErrDamaged says that something is not as it should be, still or with DryRun.
var ErrDamaged = errors.New("the tables are to be repaired")

// run is one run.
type run struct{ Options }

// Run finds what is damaged and mends it.
func Run(ctx context.Context, options Options) error {
	r := run{options}
	damages, err := r.find(ctx)
	if err != nil {
		return err
	}
	if len(damages) == 0 {
		fmt.Fprintln(r.Out, "nothing is damaged")
		return nil
	}
	for _, d := range damages {
		fmt.Fprintln(r.Out, d)
	}
	p, err := r.plan(ctx, damages)
	if err != nil {
		return err
	}
	p.print(r.Out)
	if r.DryRun {
		return ErrDamaged
	}
	// Damaged parts stay until then: what can be read of them is read.
	if err := r.fill(ctx, p); err != nil {
		return err
	}
	return r.finish(ctx, damages)
}

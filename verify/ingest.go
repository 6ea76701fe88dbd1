package verify

import (
	"context"
	"errors"
	"fmt"

	"tonscribe/ingest"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

// FromIngest gives bundles the way the ingest stage reads, verifies and gathers
// them. Bundles that it would refuse, or cannot find, are left out.
func FromIngest(c ingest.Configuration) BundleSource { return &ingestSource{c} }

type ingestSource struct{ configuration ingest.Configuration }

// Bundles is part of BundleSource.
func (s *ingestSource) Bundles(ctx context.Context, from, to uint32, each func(uint32, [][]byte) error) error {
	c := s.configuration
	c.From, c.To, c.OnBad, c.OnGap, c.GapFile, c.MaxBacklog = from, to, ingest.Skip, ingest.Skip, "", 0
	c.SkipAfter = 1 // what the tables hold has been there before
	source, err := ingest.NewSource(c, report.Silent())
	if err != nil {
		return err
	}
	if err := source.Open(ctx); err != nil {
		return errors.Join(err, source.Close())
	}
	if first, last := source.Range(); last < to {
		return errors.Join(fmt.Errorf("%s has masterchain blocks %d to %d, and the range ends at %d", c.Source, first, last, to), source.Close())
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stage, err := ingest.New(c, ingest.Dependencies{Report: report.Silent(), Source: source, Log: &tape{each: each, fail: cancel}})
	if err != nil {
		return errors.Join(err, source.Close())
	}
	if err := stage.Start(ctx); err != nil {
		return err
	}
	select {
	case <-stage.Done():
		err = stage.Err()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return errors.Join(err, stage.Stop(context.WithoutCancel(ctx)))
}

// tape is the log to which the stage publishes: it hands bundles on.
type tape struct {
	each   func(uint32, [][]byte) error
	fail   context.CancelCauseFunc
	blocks [][]byte
}

// Partitions is one: all blocks of a bundle come together.
func (t *tape) Partitions() int { return 1 }

// First and LastSeal say that the log is empty.
func (t *tape) First(context.Context, string, int) (*record.Record, bool, error) {
	return nil, true, nil
}

// LastSeal is like First.
func (t *tape) LastSeal(context.Context, string, int) (*record.Record, error) { return nil, nil }

// Publish hands on the bundles that are complete.
func (t *tape) Publish(ctx context.Context, _ string, _ int, records []*record.Record) error {
	for _, r := range records {
		if b := r.GetRawBlock(); b != nil {
			t.blocks = append(t.blocks, b.Boc)
			continue
		}
		blocks := t.blocks
		t.blocks = nil
		if err := t.each(r.McSeqno, blocks); err != nil {
			t.fail(err)
			return err
		}
	}
	return ctx.Err()
}

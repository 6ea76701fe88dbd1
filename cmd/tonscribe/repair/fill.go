package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tonscribe/internal/kafka"
	"tonscribe/schema"
	"tonscribe/sink"
)

// fill brings the rows back.
func (r *run) fill(ctx context.Context, p *plan) error {
	if len(p.tables) == 0 {
		return nil
	}
	began := time.Now()
	fill := r.fromLog
	if p.source != nil {
		fill = r.fromSource
	}
	if err := r.findRevision(ctx, p); err != nil {
		return err
	}
	if err := fill(ctx, p); err != nil {
		return err
	}
	if err := r.replaceRevised(ctx, p); err != nil {
		return err
	}
	r.Progress("")
	fmt.Fprintf(r.Out, "the rows of bundles %d to %d are back after %s\n", p.from, p.to, time.Since(began).Round(time.Millisecond))
	return nil
}

// sink inserts once more what the plan says, and tells of it.
func (r *run) sink(p *plan, log *kafka.Client, sealed func(topic string, partition int, mcSeqno uint32)) (*sink.Component, error) {
	c := r.Sink
	c.Group = "repair"
	return sink.New(c, sink.Dependencies{Report: r.Report, Kafka: log, ClickHouse: r.Tables, Repeat: &sink.Repeat{
		Tables: p.tables, From: p.from, Revision: p.revision, Token: fmt.Sprintf("repair-%d", time.Now().UnixNano()), Sealed: sealed,
		Done: func(ctx context.Context, topic string, partition int) (uint32, error) {
			done, err := log.Done(ctx, r.Sink.Group, topic, partition)
			// A sink that was cut off has told what it did not commit.
			return max(done, p.told[partitionOf{topic, uint16(partition)}]), err
		},
	}})
}

// fromLog inserts what the log has.
func (r *run) fromLog(ctx context.Context, p *plan) error {
	done := newProgress(p.from, p.to, len(p.topics)*r.Partitions, r.Progress)
	s, err := r.sink(p, p.log, done.sealed)
	if err != nil {
		return err
	}
	for _, topic := range p.topics {
		for partition := range r.Partitions {
			if err := s.Again(ctx, topic, partition); err != nil {
				return err
			}
		}
	}
	return nil
}

// fromSource lets the stages before the sink decode the blocks once more, and a
// sink insert what comes.
func (r *run) fromSource(ctx context.Context, p *plan) (err error) {
	traces := slices.Contains(p.topics, schema.Traces) // which are made of what contracts are
	d, err := p.source.Open(ctx, Range{From: p.begin, To: p.to, LeaveOut: p.leaveOut, Contracts: traces || slices.Contains(p.topics, schema.Contracts), Traces: traces})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Stop()) }()
	done := newProgress(p.begin, p.to, len(p.topics)*r.Partitions, r.Progress)
	s, err := r.sink(p, d.Log, func(topic string, partition int, mcSeqno uint32) {
		if slices.ContainsFunc(p.topics, func(t schema.Topic) bool { return t.Name == topic }) {
			done.sealed(topic, partition, mcSeqno)
		}
	})
	if err != nil {
		return err
	}
	if err := s.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop(context.Background())) }()
	if err := d.Start(ctx); err != nil {
		return err
	}
	ticker := time.NewTicker(drawEvery)
	defer ticker.Stop()
	for !done.complete() {
		select {
		case err := <-d.Ended:
			return err
		case <-s.Done():
			return fmt.Errorf("the sink of the repair ended: %w", s.Err())
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			done.draw()
		}
	}
	return nil
}

package stage

import (
	"context"
	"fmt"
	"slices"

	"tonscribe/internal/kafka"
	"tonscribe/schema/record"
)

// Bundle is what all partitions of the input topics have of a bundle.
type Bundle struct {
	McSeqno, PrevMcSeqno uint32
	Seal                 *record.Seal
	// Records are those of the topics without their seals, each partition's in
	// its order.
	Records []*record.Record
}

// input reads partitions side by side, bundle by bundle.
type input struct {
	marker  uint32 // bundles up to it are done
	sources []*source
	current *Bundle
}

// source is one partition of one topic.
type source struct {
	reader *kafka.PartitionReader
	sealed bool  // of the current bundle
	next   int64 // offset after that seal
	done   int64 // offset after what was taken, 0 when committed
	rows   uint64
	oldest *kafka.Item // taken by align, not collected yet
}

func newInput(readers map[kafka.TopicPartition]*kafka.PartitionReader, marker uint32) *input {
	in := &input{marker: marker}
	for _, reader := range readers {
		in.sources = append(in.sources, &source{reader: reader})
	}
	return in
}

// align finds the bundle with which all partitions can begin. They are at the same
// one, unless some begin with the oldest that the log still has of them.
func (in *input) align(ctx context.Context) error {
	if !slices.ContainsFunc(in.sources, func(s *source) bool { return s.reader.Bundle() == 0 }) {
		return nil
	}
	first := uint32(0)
	for _, s := range in.sources {
		for s.oldest == nil {
			item, err := s.reader.Next(ctx)
			if err != nil {
				return err
			}
			if item.Record.McSeqno > in.marker {
				s.oldest = &item
			}
		}
		first = max(first, s.oldest.Record.McSeqno)
	}
	in.marker = first - 1
	return nil
}

// fill reads until the next bundle is whole; false when that would take waiting
// and wait is false.
func (in *input) fill(ctx context.Context, wait bool) (bool, error) {
	for _, s := range in.sources {
		for !s.sealed {
			item, came, err := s.read(ctx, wait)
			if err != nil || !came {
				return false, err
			}
			if err := in.collect(s, item); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

func (s *source) read(ctx context.Context, wait bool) (kafka.Item, bool, error) {
	if item := s.oldest; item != nil {
		s.oldest = nil
		return *item, true, nil
	}
	if !wait {
		return s.reader.Poll(ctx, 0)
	}
	item, err := s.reader.Next(ctx)
	return item, err == nil, err
}

// collect takes one record of a bundle.
func (in *input) collect(s *source, item kafka.Item) error {
	r := item.Record
	seal := r.GetSeal()
	if r.McSeqno <= in.marker {
		if seal != nil {
			s.done = item.Offset + 1
		}
		return nil
	}
	if in.current == nil {
		in.current = &Bundle{McSeqno: r.McSeqno, PrevMcSeqno: r.PrevMcSeqno}
	}
	b := in.current
	if r.McSeqno != b.McSeqno || r.PrevMcSeqno != b.PrevMcSeqno {
		return fmt.Errorf("partition %d of %s has bundle %d after %d where another has %d after %d: "+
			"the topics do not belong together, or one was cut off", s.reader.Partition, s.reader.Topic, r.McSeqno, r.PrevMcSeqno, b.McSeqno, b.PrevMcSeqno)
	}
	if seal == nil {
		b.Records = append(b.Records, r)
		s.rows += r.Rows()
		return nil
	}
	if seal.Rows != s.rows {
		return fmt.Errorf("bundle %d: its seal in partition %d of %s tells of %d rows, the log has %d",
			b.McSeqno, s.reader.Partition, s.reader.Topic, seal.Rows, s.rows)
	}
	b.Seal = seal
	s.sealed, s.next, s.rows = true, item.Offset+1, 0
	return nil
}

// take returns the bundle that fill completed.
func (in *input) take() *Bundle {
	b := in.current
	in.current, in.marker = nil, b.McSeqno
	for _, s := range in.sources {
		s.sealed, s.done = false, s.next
	}
	return b
}

// commit tells the log that what was taken is done.
func (in *input) commit(ctx context.Context) error {
	for _, s := range in.sources {
		if s.done == 0 {
			continue
		}
		if err := s.reader.Commit(ctx, s.done); err != nil {
			return err
		}
		s.done = 0
	}
	return nil
}

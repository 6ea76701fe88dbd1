package kafka

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"tonscribe/schema/record"
)

// batchBytes bounds what goes to a broker in one request, before compression.
const batchBytes = 8 << 20

// Publish writes the records to the partition, in order, and returns when all
// are acknowledged by all in-sync replicas. What may succeed later is tried
// until ctx ends, everything from the first unacknowledged record on again, so
// the log may repeat records, which a PartitionReader drops. Readers of this process may
// have the records themselves: nobody changes them any more.
func (c *Client) Publish(ctx context.Context, topic string, partition int, records []*record.Record) error {
	tp := TopicPartition{topic, partition}
	if err := c.connect(ctx); err != nil {
		return fmt.Errorf("publish to %s: %w", tp, err)
	}
	release, err := c.lock(ctx, tp)
	if err != nil {
		return err
	}
	defer release()
	for len(records) > 0 {
		batch, bytes, err := nextBatch(records)
		if err != nil {
			return fmt.Errorf("publish to %s: %w", tp, err)
		}
		if c.room != nil {
			if err := c.room(ctx); err != nil {
				return fmt.Errorf("publish to %s: %w", tp, err)
			}
		}
		if err := c.publishBatch(ctx, tp, batch, records[:len(batch)]); err != nil {
			first := records[0]
			return fmt.Errorf("publish to %s: %d records from bundle %d index %d: %w",
				tp, len(batch), first.McSeqno, first.Index, err)
		}
		c.metrics.publishedRecords.WithLabelValues(tp.labels()).Add(float64(len(batch)))
		c.metrics.publishedBytes.WithLabelValues(tp.labels()).Add(float64(bytes))
		records = records[len(batch):]
	}
	return nil
}

// Sync returns when what was published to some partitions survives a power loss. Whoever
// makes durable that it need not be published again calls it before.
func (c *Client) Sync(partitions ...TopicPartition) error {
	if c.sync == nil {
		return nil
	}
	var group errgroup.Group
	for _, tp := range partitions {
		group.Go(func() error {
			if err := c.sync(tp.Topic, tp.Partition); err != nil {
				return fmt.Errorf("write %s to the disk: %w", tp, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// lock gives the partition to one writer: two batches in flight could change
// places when one of them is sent again.
func (c *Client) lock(ctx context.Context, tp TopicPartition) (release func(), err error) {
	value, _ := c.writers.LoadOrStore(tp, make(chan struct{}, 1))
	turn := value.(chan struct{})
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// nextBatch encodes the first records, as many as one request takes.
func nextBatch(records []*record.Record) (values [][]byte, bytes int, err error) {
	for _, r := range records {
		size := r.SizeVT()
		if len(values) > 0 && bytes+size > batchBytes {
			break
		}
		value := make([]byte, size)
		if _, err := r.MarshalToSizedBufferVT(value); err != nil {
			return nil, 0, fmt.Errorf("bundle %d index %d: %w", r.McSeqno, r.Index, err)
		}
		values = append(values, value)
		bytes += size
	}
	return values, bytes, nil
}

func (c *Client) publishBatch(ctx context.Context, tp TopicPartition, values [][]byte, records []*record.Record) error {
	var offset int64
	err := c.persist(ctx, "produce", func(ctx context.Context) error {
		// The time of a record stays unset: retention would drop old blocks.
		messages := make([]kafka.Record, len(values))
		for i, value := range values {
			messages[i].Value = kafka.NewBytes(value)
		}
		response, err := c.produce.Produce(ctx, &kafka.ProduceRequest{
			Topic: tp.Topic, Partition: tp.Partition, RequiredAcks: kafka.RequireAll,
			Compression: c.compression, Records: kafka.NewRecordReader(messages...),
		})
		if err != nil {
			return err
		}
		offset = response.BaseOffset
		return response.Error
	})
	switch {
	case c.written == nil:
	case err != nil:
		c.written.forget(tp)
	default:
		c.written.add(tp, offset, values, records)
	}
	return err
}

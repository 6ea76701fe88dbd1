package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// maxStep bounds how many records are looked at in one step backwards.
const maxStep = 64

// LastSeal returns the seal of the last complete bundle of the partition, nil when
// it has none.
func (c *Client) LastSeal(ctx context.Context, topic string, partition int) (*record.Record, error) {
	return c.Last(ctx, topic, partition, func(r *record.Record) bool { return r.GetSeal() != nil })
}

// Last returns the newest record of the partition that is accepted, nil when there
// is none.
func (c *Client) Last(ctx context.Context, topic string, partition int, accept func(*record.Record) bool) (found *record.Record, err error) {
	err = c.readFrom(ctx, TopicPartition{topic, partition}, func(conn *kafka.Conn, first, end int64) error {
		found = nil
		for step := int64(1); found == nil && end > first; step = min(2*step, maxStep) {
			from := max(first, end-step)
			if err := readRange(conn, from, end, func(item Item) error {
				if accept(item.Record) {
					found = item.Record
				}
				return nil
			}); err != nil {
				return err
			}
			end = from
		}
		return nil
	})
	return found, err
}

// readRange hands out the records [from, end).
func readRange(conn *kafka.Conn, from, end int64, take func(Item) error) error {
	for offset := from; offset < end; {
		if _, err := conn.Seek(offset, kafka.SeekAbsolute|kafka.SeekDontCheck); err != nil {
			return err
		}
		conn.SetReadDeadline(time.Now().Add(fetchWait + readLimit))
		batch := conn.ReadBatchWith(kafka.ReadBatchConfig{MinBytes: 1, MaxBytes: fetchBytes, MaxWait: fetchWait})
		for offset < end {
			message, err := batch.ReadMessage()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				batch.Close()
				return err
			}
			item, err := (&entry{offset: message.Offset, value: message.Value}).item()
			if err == nil {
				err = take(item)
			}
			if err != nil {
				batch.Close()
				return finalError{err}
			}
			offset = message.Offset + 1
		}
		if err := batch.Close(); err != nil {
			return err
		}
	}
	return nil
}

// First is the oldest record of the partition that the log still has, nil when it
// has none, and whether it never had an older one.
func (c *Client) First(ctx context.Context, topic string, partition int) (oldest *record.Record, beginning bool, err error) {
	oldest, offset, err := c.oldest(ctx, TopicPartition{topic, partition})
	return oldest, offset == 0, err
}

// oldest is the oldest record, nil when there is none, and its offset.
func (c *Client) oldest(ctx context.Context, tp TopicPartition) (oldest *record.Record, offset int64, err error) {
	err = c.readFrom(ctx, tp, func(conn *kafka.Conn, first, end int64) error {
		oldest, offset = nil, first
		return readRange(conn, first, min(first+1, end), func(item Item) error {
			oldest = item.Record
			return nil
		})
	})
	return oldest, offset, err
}

// Read hands out the records that the partition has now, from an offset on or
// from the oldest that it still has, repetitions and records without predecessors
// among them, without being of any group. Where a broker fails meanwhile it goes
// on with the next record.
func (c *Client) Read(ctx context.Context, topic string, partition int, next int64, take func(Item) error) error {
	return c.readFrom(ctx, TopicPartition{topic, partition}, func(conn *kafka.Conn, first, end int64) error {
		next = max(next, first)
		return readRange(conn, next, end, func(item Item) error {
			next = item.Offset + 1
			return take(item)
		})
	})
}

// Offsets returns the range of offsets that the partition has, [first, end).
func (c *Client) Offsets(ctx context.Context, topic string, partition int) (first, end int64, err error) {
	err = c.readFrom(ctx, TopicPartition{topic, partition}, func(_ *kafka.Conn, from, to int64) error {
		first, end = from, to
		return nil
	})
	return first, end, err
}

// readFrom connects to who leads the partition and hands out what offsets there
// are, [first, end).
func (c *Client) readFrom(ctx context.Context, tp TopicPartition, read func(conn *kafka.Conn, first, end int64) error) error {
	if err := c.connect(ctx); err != nil {
		return fmt.Errorf("read %s: %w", tp, err)
	}
	err := c.persist(ctx, "read", func(ctx context.Context) error {
		conn, err := c.dialLeader(ctx, tp)
		if err != nil {
			return err
		}
		defer conn.Close()
		defer closeWith(ctx, conn)()
		first, end, err := conn.ReadOffsets()
		if err != nil {
			return err
		}
		return read(conn, first, end)
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", tp, err)
	}
	return nil
}

// Done is the bundle up to which a group has committed all of a partition, 0 when its commit
// tells of none.
func (c *Client) Done(ctx context.Context, group, topic string, partition int) (mcSeqno uint32, err error) {
	tp := TopicPartition{topic, partition}
	if err := c.connect(ctx); err != nil {
		return 0, fmt.Errorf("commit of %s in %s: %w", group, tp, err)
	}
	err = c.persist(ctx, "fetch offset", func(ctx context.Context) error {
		_, metadata, err := c.committed(ctx, group, tp)
		if err != nil {
			return err
		}
		last, err := decodeCommitment(metadata)
		if err != nil {
			return finalError{err}
		}
		at := last.Position.or()
		if mcSeqno = at.Bundle; mcSeqno > 0 && !at.Sealed {
			mcSeqno--
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("commit of %s in %s: %w", group, tp, err)
	}
	return mcSeqno, nil
}

// Lag is how many records the topics have that the group has not committed.
func (c *Client) Lag(ctx context.Context, group string, topics ...schema.Topic) (records int64, err error) {
	if err := c.connect(ctx); err != nil {
		return 0, fmt.Errorf("lag of %s: %w", group, err)
	}
	for _, topic := range topics {
		for p := range c.configuration.Partitions {
			tp := TopicPartition{topic.Name, p}
			err := c.persist(ctx, "lag", func(ctx context.Context) error {
				lag, err := c.lagOf(ctx, group, tp)
				records += lag
				return err
			})
			if err != nil {
				return 0, fmt.Errorf("lag of %s in %s: %w", group, tp, err)
			}
		}
	}
	return records, nil
}

func (c *Client) lagOf(ctx context.Context, group string, tp TopicPartition) (int64, error) {
	done, _, err := c.committed(ctx, group, tp)
	if err != nil {
		return 0, err
	}
	response, err := c.calls.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{tp.Topic: {kafka.LastOffsetOf(tp.Partition)}}})
	if err != nil {
		return 0, err
	}
	for _, partition := range response.Topics[tp.Topic] {
		switch {
		case partition.Partition != tp.Partition:
		case partition.Error != nil:
			return 0, partition.Error
		default:
			return max(0, partition.LastOffset-done), nil
		}
	}
	return 0, fmt.Errorf("no answer for %s", tp)
}

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

// longestStep bounds how many records are looked at in one step backwards.
const longestStep = 64

// LastSeal is the seal of the last complete bundle of the partition, nil when
// it has none.
func (c *Client) LastSeal(ctx context.Context, topic string, partition int) (*record.Record, error) {
	tp := TopicPartition{topic, partition}
	if err := c.connect(ctx); err != nil {
		return nil, fmt.Errorf("last seal of %s: %w", tp, err)
	}
	var seal *record.Record
	err := c.persist(ctx, "last seal", func(ctx context.Context) (err error) {
		seal, err = c.searchBackwards(ctx, tp)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("last seal of %s: %w", tp, err)
	}
	return seal, nil
}

func (c *Client) searchBackwards(ctx context.Context, tp TopicPartition) (*record.Record, error) {
	conn, err := c.dialLeader(ctx, tp)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer closeWith(ctx, conn)()
	first, end, err := conn.ReadOffsets()
	if err != nil {
		return nil, err
	}
	for step := int64(1); end > first; step = min(2*step, longestStep) {
		from := max(first, end-step)
		seal, err := lastSealIn(conn, from, end)
		if seal != nil || err != nil {
			return seal, err
		}
		end = from
	}
	return nil, nil
}

// lastSealIn looks at the records [from, end).
func lastSealIn(conn *kafka.Conn, from, end int64) (*record.Record, error) {
	var seal *record.Record
	for offset := from; offset < end; {
		if _, err := conn.Seek(offset, kafka.SeekAbsolute|kafka.SeekDontCheck); err != nil {
			return nil, err
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
				return nil, err
			}
			r := &record.Record{}
			if err := r.UnmarshalVT(message.Value); err != nil {
				batch.Close()
				return nil, finalError{fmt.Errorf("record at offset %d: %w", message.Offset, err)}
			}
			if r.GetSeal() != nil {
				seal = r
			}
			offset = message.Offset + 1
		}
		if err := batch.Close(); err != nil {
			return nil, err
		}
	}
	return seal, nil
}

// Lag is, for every partition of the topics, how many records the group has
// not committed.
func (c *Client) Lag(ctx context.Context, group string, topics []schema.Topic) (map[TopicPartition]int64, error) {
	if err := c.connect(ctx); err != nil {
		return nil, fmt.Errorf("lag of %s: %w", group, err)
	}
	lags := map[TopicPartition]int64{}
	for _, topic := range topics {
		for p := range c.configuration.Partitions {
			tp := TopicPartition{topic.Name, p}
			err := c.persist(ctx, "lag", func(ctx context.Context) error {
				lag, err := c.lagOf(ctx, group, tp)
				lags[tp] = lag
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("lag of %s in %s: %w", group, tp, err)
			}
		}
	}
	return lags, nil
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
		if partition.Partition == tp.Partition {
			return max(0, partition.LastOffset-done), partition.Error
		}
	}
	return 0, fmt.Errorf("no answer for %s", tp)
}

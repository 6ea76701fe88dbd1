// Package topictest reads what stages published.
package topictest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tonscribe/internal/kafka"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Read reads what a topic has, by partition, up to the seals of a bundle. It waits a
// minute for these.
func Read(t testing.TB, client *kafka.Client, topic schema.Topic, until uint32) [][]*record.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := make([][]*record.Record, client.Partitions())
	done := make(chan struct{}, len(all))
	go func() {
		_ = client.Consume(ctx, fmt.Sprintf("test-%x", rand.Uint64()), []schema.Topic{topic}, func(ctx context.Context, l *kafka.PartitionReader) error {
			for {
				item, err := l.Next(ctx)
				if err != nil {
					return err
				}
				all[l.Partition] = append(all[l.Partition], item.Record)
				if item.Record.McSeqno >= until && item.Record.GetSeal() != nil {
					done <- struct{}{}
					<-ctx.Done()
					return ctx.Err()
				}
			}
		}) // it ends with ctx
	}()
	for range all {
		select {
		case <-done:
		case <-ctx.Done():
			t.Fatalf("the topic %s does not get so far", topic.Name)
		}
	}
	return all
}

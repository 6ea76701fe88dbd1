package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/logtest"
)

// testLog is a client with a topic and a group of its own.
type testLog struct {
	*Client
	t      *testing.T
	topic  schema.Topic
	output *logtest.Book
	suffix string
}

func newTestLog(t *testing.T, dependencies Dependencies, brokers ...string) *testLog {
	suffix := fmt.Sprintf("%x", rand.Uint64())
	l := &testLog{t: t, suffix: suffix, topic: schema.Topic{Name: "topic-" + suffix, MaxMessageBytes: 16 << 20}, output: &logtest.Book{}}
	dependencies.Report = report.Reporter{Log: zerolog.New(l.output), Metrics: prometheus.NewRegistry()}
	configuration := DefaultConfiguration()
	configuration.Brokers = brokers
	configuration.Partitions = 2
	client, err := New(configuration, dependencies)
	if err != nil {
		t.Fatal(err)
	}
	l.Client = client
	t.Cleanup(client.Close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(l.output.String())
		}
	})
	return l
}

func (l *testLog) ensure() {
	l.t.Helper()
	if err := l.EnsureTopics(l.t.Context(), []schema.Topic{l.topic}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *testLog) group() string { return "group-" + l.suffix }

func (l *testLog) publish(partition int, records ...*record.Record) {
	l.t.Helper()
	if err := l.Publish(l.t.Context(), l.topic.Name, partition, records); err != nil {
		l.t.Fatal(err)
	}
}

// consume runs a handler on partition 0 until it returns its first result, and
// then leaves the group.
func (l *testLog) consume(handle func(ctx context.Context, reader *PartitionReader) error) error {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	var once sync.Once
	result := errors.New("the handler never ran")
	l.Consume(ctx, l.group(), []schema.Topic{l.topic}, func(ctx context.Context, reader *PartitionReader) error {
		if reader.Partition == 0 {
			once.Do(func() { result = handle(ctx, reader); cancel() })
		}
		<-ctx.Done()
		return ctx.Err()
	})
	return result
}

// reads is consume with a handler that must succeed.
func (l *testLog) reads(handle func(ctx context.Context, reader *PartitionReader) error) {
	l.t.Helper()
	if err := l.consume(handle); err != nil {
		l.t.Fatal(err)
	}
}

// bundle makes the records of a bundle with n blocks of size bytes.
func bundle(mc, prev uint32, n, size int) []*record.Record {
	var records []*record.Record
	for i := range n {
		boc := bytes.Repeat([]byte{byte(mc), byte(i)}, size/2)
		records = append(records, &record.Record{McSeqno: mc, Index: uint32(i), PrevMcSeqno: prev,
			Content: &record.Record_RawBlock{RawBlock: &record.RawBlock{Id: &record.BlockId{Seqno: mc}, Boc: boc}}})
	}
	return append(records, &record.Record{McSeqno: mc, Index: uint32(n), PrevMcSeqno: prev,
		Content: &record.Record_Seal{Seal: &record.Seal{Rows: uint64(n)}}})
}

func place(r *record.Record) string { return fmt.Sprintf("%d.%d", r.McSeqno, r.Index) }

func places(records []*record.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, place(r))
	}
	return strings.Join(all, " ")
}

// raw reads what the partition holds, without any filter.
func (l *testLog) raw(partition, n int) []*record.Record {
	l.t.Helper()
	f := &fetcher{client: l.Client, tp: TopicPartition{l.topic.Name, partition}, queue: make(chan fetched, queueLength)}
	ctx, cancel := context.WithCancel(l.t.Context())
	defer func() {
		cancel()
		for range f.queue {
		}
	}()
	go f.run(ctx)
	var records []*record.Record
	for len(records) < n {
		got := <-f.queue
		if got.err != nil {
			l.t.Fatal(got.err)
		}
		item, err := got.item()
		if err != nil {
			l.t.Fatal(err)
		}
		records = append(records, item.Record)
	}
	return records
}

func (l *testLog) commitRaw(offset int64, metadata string) {
	l.t.Helper()
	l.reads(func(ctx context.Context, reader *PartitionReader) error {
		return reader.member.commit(ctx, reader.place(), offset, metadata)
	})
}

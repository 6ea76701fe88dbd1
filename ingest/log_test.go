package ingest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"tonscribe/internal/engine"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/clienttest"
)

// openLog starts an embedded log in a folder, and a client of it.
func openLog(t *testing.T, dir string, partitions int) (*kafka.Client, func()) {
	t.Helper()
	log, err := engine.StartKafka(t.Context(), engine.KafkaOptions{Dir: dir, Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	client := clienttest.Kafka(t, log, partitions, schema.Blocks)
	return client, func() {
		client.Close()
		if err := log.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// readLog takes the whole stream of every partition up to a bundle.
func readLog(t *testing.T, client *kafka.Client, last uint32) map[int][]*record.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	streams := map[int][]*record.Record{}
	left := client.Partitions()
	err := client.Consume(ctx, "test", []schema.Topic{schema.Blocks}, func(ctx context.Context, l *kafka.PartitionReader) error {
		var stream []*record.Record
		for {
			item, err := l.Next(ctx)
			if err != nil {
				return err
			}
			stream = append(stream, item.Record)
			if item.Record.GetSeal() == nil || item.Record.McSeqno < last {
				continue
			}
			mu.Lock()
			defer mu.Unlock()
			streams[l.Partition] = stream
			if left--; left == 0 {
				cancel()
			}
			return nil
		}
	})
	if left > 0 {
		t.Fatalf("%d partitions were not read to the end: %v", left, err)
	}
	return streams
}

func TestStopsAndRestartsLeaveTheSameStreamInTheLog(t *testing.T) {
	const partitions, last = 4, 199
	want := newTape(partitions)
	publish(t, configure("archive:"+packs(t), 1, last), want)

	dir := t.TempDir()
	client, stop := openLog(t, dir, partitions)
	defer func() { stop() }()
	conf := configure("archive:"+packs(t), 1, last)
	conf.Window, conf.ChunkBytes = 4, 20000
	for run := 0; ; run++ {
		if stopAfter(t, conf, client, uint32(20*run)) {
			t.Logf("%d runs", run+1)
			break
		}
		if run%2 == 0 {
			stop()
			client, stop = openLog(t, dir, partitions)
		}
	}
	for p, stream := range readLog(t, client, last) {
		compareStreams(t, fmt.Sprintf("partition %d", p), stream, want.read(t, p))
	}
}

// stopAfter runs the stage until some bundles are published, and says whether
// it came to its end before.
func stopAfter(t *testing.T, conf Configuration, log Publisher, bundles uint32) bool {
	t.Helper()
	made := component(t, conf, log)
	if err := made.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for made.Status().Published < bundles && !made.Status().Done {
		<-poll.C
	}
	if err := made.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	return made.Status().Done
}

package stage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"tonscribe/internal/engine"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// machine is a stage, and the log that it reads and writes, on a disk of which a power loss
// leaves what was written to it for good.
type machine struct {
	testing.TB
	dir, disk string // of the log, and what is for good of the topic that the stage writes
	store     string
	log       *engine.Kafka
	client    *kafka.Client
	stage     *Component
	newest    uint32 // bundle of the log
	begin     func(*Session) (Logic, error)

	commitEvery time.Duration // 0 is the default
}

func (m *machine) start() {
	m.Helper()
	var err error
	if m.log, err = engine.StartKafka(m.Context(), engine.KafkaOptions{Dir: m.dir, Report: report.Silent()}); err != nil {
		m.Fatal(err)
	}
	c := kafka.DefaultConfiguration()
	c.Brokers = []string{m.log.Address()}
	d := kafka.Dependencies{Report: report.Silent(), Dial: m.log.Dial, Epoch: m.log.Epoch(), Sync: m.sync}
	if m.client, err = kafka.New(c, d); err != nil {
		m.Fatal(err)
	}
	if err := m.client.EnsureTopics(m.Context(), []schema.Topic{schema.Transactions, schema.Contracts}); err != nil {
		m.Fatal(err)
	}
	settings := DefaultSettings("test")
	settings.Handover = false
	if m.commitEvery > 0 {
		settings.CommitEvery = m.commitEvery
	}
	if m.begin == nil {
		m.begin = func(*Session) (Logic, error) { return empty{}, nil }
	}
	m.stage = New(Configuration{
		Settings: settings, Name: "test", Inputs: []schema.Topic{schema.Transactions}, Output: schema.Contracts,
		Store: StoreOptions{Dir: m.store, CacheBytes: 8 << 20, Version: 1, Log: zerolog.Nop()},
	}, Dependencies{Report: report.Reporter{Metrics: prometheus.NewRegistry()}, Kafka: m.client, Begin: m.begin})
	if err := m.stage.Start(m.Context()); err != nil {
		m.Fatal(err)
	}
}

// empty is a logic that makes bundles without rows.
type empty struct{}

func (empty) Bundle(_ context.Context, b *Bundle) (Output, error) {
	return NewPages(b, 1, 1000, func(*record.ContractBatch) *record.Record { return nil }).Seal(), nil
}

func (m *machine) stop() {
	m.Helper()
	if err := m.stage.Stop(m.Context()); err != nil {
		m.Fatal(err)
	}
	m.client.Close()
	if err := m.log.Stop(m.Context()); err != nil {
		m.Fatal(err)
	}
}

// output is the folder of the topic that the stage writes.
func (m *machine) output() string {
	return filepath.Join(m.dir, "data", "partitions", schema.Contracts.Name+"-0")
}

func (m *machine) sync(topic string, partition int) error {
	if err := m.log.Sync(topic, partition); err != nil || topic != schema.Contracts.Name {
		return err
	}
	if err := os.RemoveAll(m.disk); err != nil {
		return err
	}
	return os.CopyFS(m.disk, os.DirFS(m.output()))
}

// losePower leaves of the stage's output what was for good some time ago.
func (m *machine) losePower() {
	m.Helper()
	m.stop()
	if err := os.RemoveAll(m.output()); err != nil {
		m.Fatal(err)
	}
	if err := os.CopyFS(m.output(), os.DirFS(m.disk)); err != nil && !os.IsNotExist(err) {
		m.Fatal(err)
	}
}

// feed gives bundles to the stage, and waits until it has worked them out.
func (m *machine) feed(from, to uint32) {
	m.Helper()
	var records []*record.Record
	for n := from; n <= to; n++ {
		records = append(records, &record.Record{McSeqno: n, PrevMcSeqno: m.newest, Content: &record.Record_Seal{Seal: &record.Seal{}}})
		m.newest = n
	}
	if err := m.client.Publish(m.Context(), schema.Transactions.Name, 0, records); err != nil {
		m.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		lag, err := m.client.Lag(m.Context(), "test", schema.Transactions)
		if err != nil {
			m.Fatal(err)
		}
		if lag == 0 {
			return
		}
		if time.Now().After(deadline) {
			m.Fatalf("bundle %d does not come", to)
		}
	}
}

// What a store says is done is not done again, so that the log must have it for good.
func TestNoBundleIsMissingInWhatAStagePublishedBeforeAPowerLoss(t *testing.T) {
	folder := t.TempDir()
	m := &machine{TB: t, dir: filepath.Join(folder, "log"), disk: filepath.Join(folder, "disk"), store: filepath.Join(folder, "store")}
	last := uint32(0)
	for range 3 {
		m.start()
		for range 4 {
			m.feed(last+1, last+5)
			last += 5
		}
		m.losePower()
	}
	m.start()
	defer m.stop()
	m.expect(1, last)
}

// expect checks what the topic has that the stage writes.
func (m *machine) expect(first, last uint32) {
	m.Helper()
	at := uint32(0)
	if err := m.client.Read(m.Context(), schema.Contracts.Name, 0, 0, func(item kafka.Item) error {
		switch r := item.Record; {
		case at == 0 && r.McSeqno != first:
			m.Errorf("bundle %d is the first one, want %d", r.McSeqno, first)
		case r.McSeqno > at && at > 0 && r.PrevMcSeqno != at:
			m.Errorf("bundle %d follows %d, want %d", r.McSeqno, at, r.PrevMcSeqno)
		}
		at = max(at, item.Record.McSeqno)
		return nil
	}); err != nil {
		m.Fatal(err)
	}
	if at != last {
		m.Errorf("the newest bundle is %d, want %d", at, last)
	}
}

// Of what the old log had the tables may lack the newest bundles.
func TestALogThatWasMadeAnewGetsEveryBundleThatItCan(t *testing.T) {
	for _, c := range []struct {
		what                 string
		begins, first, again uint32 // bundles: of the store, of the new log, of what is in it
		gaps                 float64
	}{
		{"from the store's first bundle on", 5, 5, 5, 0},
		{"from an earlier one on", 5, 3, 3, 0},
		{"from a later one on, of which the store has seen some", 5, 8, 15, 1},
		{"behind all that the store has seen", 5, 15, 15, 1},
	} {
		t.Run(c.what, func(t *testing.T) {
			folder := t.TempDir()
			m := &machine{TB: t, dir: filepath.Join(folder, "log"), disk: filepath.Join(folder, "disk"), store: filepath.Join(folder, "store")}
			m.start()
			m.feed(c.begins, 14)
			m.stop()
			if err := os.RemoveAll(m.dir); err != nil {
				t.Fatal(err)
			}
			m.newest = 0
			m.start()
			defer m.stop()
			m.feed(c.first, 20)
			m.expect(c.again, 20)
			if gaps := testutil.ToFloat64(m.stage.Gaps); gaps != c.gaps {
				t.Errorf("%v gaps, want %v", gaps, c.gaps)
			}
		})
	}
}

// failing is a logic that fails once, at a bundle, when those before it are committed.
type failing struct {
	empty
	at     uint32
	failed *bool
}

func (f failing) Bundle(ctx context.Context, b *Bundle) (Output, error) {
	if b.McSeqno == f.at && !*f.failed {
		*f.failed = true
		return Output{}, errors.New("no luck")
	}
	return f.empty.Bundle(ctx, b)
}

func TestASessionKnowsWhatWasPublishedAlsoWhenAnEarlierOneEndedWhileItPublishedAgain(t *testing.T) {
	folder := t.TempDir()
	m := &machine{TB: t, dir: filepath.Join(folder, "log"), disk: filepath.Join(folder, "disk"), store: filepath.Join(folder, "store")}
	m.commitEvery = time.Nanosecond
	m.start()
	m.feed(1, 9)
	m.stop()
	m.store = filepath.Join(folder, "another store")
	var published []uint32
	failed := false
	m.begin = func(s *Session) (Logic, error) {
		published = append(published, s.Published)
		return failing{at: 5, failed: &failed}, nil
	}
	m.start()
	m.feed(10, 12)
	m.stop()
	if want := []uint32{9, 9}; !slices.Equal(published, want) {
		t.Errorf("sessions were told that bundles %v are published, want %v", published, want)
	}
}

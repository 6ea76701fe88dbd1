package detect

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/topictest"
)

// feed publishes what a partition has of steps.
func feed(t *testing.T, client *kafka.Client, partition int, steps []*step) {
	t.Helper()
	for _, s := range steps {
		accounts, transactions := s.records(partition, lifePartitions)
		for topic, records := range map[string][]*record.Record{schema.Accounts.Name: accounts, schema.Transactions.Name: transactions} {
			if err := client.Publish(t.Context(), topic, partition, records); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// lifeOn runs the stage on a store until it has published a bundle and the group
// has come to it, and gives how often the log lacked bundles that it needed, and how
// many it worked out.
func lifeOn(t *testing.T, client *kafka.Client, store string, handover bool, last uint32) (gaps, bundles float64) {
	t.Helper()
	configuration := DefaultConfiguration()
	configuration.Dir, configuration.Handover = store, handover
	c, err := New(configuration, Dependencies{Report: report.Reporter{Metrics: prometheus.NewRegistry()}, Kafka: client})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		bundle := testutil.ToFloat64(c.Bundle)
		left, err := client.Lag(t.Context(), configuration.Group, schema.Accounts, schema.Transactions)
		if err != nil {
			t.Fatal(err)
		}
		if left == 0 && bundle == float64(last) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the stage has come to bundle %v, want %d; %d records are left", bundle, last, left)
		}
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	return testutil.ToFloat64(c.Gaps), testutil.ToFloat64(c.Bundles)
}

// What the folder lacks is seen again, or comes from the topic of the store's
// changes: then nothing is worked out twice but what was not known to be published.
func TestAStoreBehindItsGroupComesByWhatItLacks(t *testing.T) {
	w := newTown(t, 30, 60)
	want := undisturbed(t, w.steps)
	older := func(older string) string { return older }
	none := func(string) string { return t.TempDir() }
	for name, c := range map[string]struct {
		lost     func(older string) string
		handover bool
		bundles  float64 // of the last ten and what is seen again
	}{
		"set back to an older copy": {older, false, 20},
		"deleted":                   {none, false, 30},
		"set back to an older copy, with a topic": {older, true, 10},
		"deleted, with a topic":                   {none, true, 10},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			log, client, err := openLog(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Stop(t.Context())
			defer client.Close()
			live := func(steps []*step, store string) (gaps, bundles float64) {
				for p := range lifePartitions {
					feed(t, client, p, steps)
				}
				return lifeOn(t, client, store, c.handover, steps[len(steps)-1].mcSeqno)
			}
			store, older := filepath.Join(dir, "store"), filepath.Join(dir, "older")
			live(w.steps[:10], store)
			if err := os.CopyFS(older, os.DirFS(store)); err != nil {
				t.Fatal(err)
			}
			live(w.steps[10:20], store)
			if gaps, bundles := live(w.steps[20:], c.lost(older)); gaps != 0 || bundles != c.bundles {
				t.Errorf("%v gaps in a log that has every bundle and %v bundles worked out, want 0 and %v", gaps, bundles, c.bundles)
			}
			for p, records := range topictest.Read(t, client, schema.Contracts, 30) {
				if got := encoded(t, records); !bytes.Equal(got, want[p]) {
					t.Errorf("partition %d: %d bytes differ from the %d of a run with its store", p, len(got), len(want[p]))
				}
			}
		})
	}
}

func TestWhereTheLogDoesNotReachBackToTheStoreItBeginsWithTheOldestBundleThatAllPartitionsHaveAndSaysSo(t *testing.T) {
	w := newTown(t, 30, 20)
	older := newDesk(t, t.TempDir())
	for _, s := range w.steps[:5] {
		older.do(s.bundle())
	}
	older.leave()
	for name, store := range map[string]string{"an older copy": older.configuration.Dir, "no store": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			log, client, err := openLog(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Stop(t.Context())
			defer client.Close()
			feed(t, client, 0, w.steps[9:20])
			feed(t, client, 1, w.steps[11:20])
			lifeOn(t, client, filepath.Join(dir, "store"), false, 20)
			for p := range lifePartitions {
				feed(t, client, p, w.steps[20:])
			}
			if gaps, _ := lifeOn(t, client, store, false, 30); gaps != 1 {
				t.Errorf("%v gaps were counted, want 1", gaps)
			}
			for p, records := range topictest.Read(t, client, schema.Contracts, 30) {
				first, seals := records[0].McSeqno, 0
				for _, r := range records {
					if r.GetSeal() != nil {
						seals++
					}
				}
				if first != 12 || seals != 19 {
					t.Errorf("partition %d has %d bundles from %d on, want 19 from 12 on", p, seals, first)
				}
			}
		})
	}
}

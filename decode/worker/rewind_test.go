package worker

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"tonscribe/internal/kafka"
	"tonscribe/internal/localstore"
	"tonscribe/internal/report"
	"tonscribe/schema"
)

// lifeOf feeds bundles, lets a worker publish them and gives how often the log
// lacked bundles that its store needed.
func (s *stage) lifeOf(bundles []*source, cells string) (gaps float64) {
	s.Helper()
	s.feed(bundles)
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = cells
	c := s.start(configuration)
	defer s.stop(c)
	s.awaitDone(c, bundles[len(bundles)-1].mcSeqno)
	return testutil.ToFloat64(c.metrics.gaps.WithLabelValues("0"))
}

// awaitDone waits until the group has come to a bundle.
func (s *stage) awaitDone(c *Component, bundle uint32) {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		lag, err := s.Lag(s.Context(), c.configuration.Group, schema.Blocks)
		if err != nil {
			s.Fatal(err)
		}
		done := testutil.ToFloat64(c.metrics.bundle.WithLabelValues("0"))
		if lag == 0 && done == float64(bundle) {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("the worker has come to bundle %v, want %d; lag %d", done, bundle, lag)
		}
	}
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

func TestACellStoreBehindItsGroupSeesWhatItLacksAgain(t *testing.T) {
	bundles, zerostate := devnet(t, 45, 80)
	undisturbed := onEmbedded(t, 1)
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = t.TempDir()
	want := undisturbed.run(bundles, configuration, zerostate)
	for name, lost := range map[string]func(t *testing.T, older string) string{
		"set back to an older copy": func(_ *testing.T, older string) string { return older },
		"deleted":                   func(t *testing.T, _ string) string { return t.TempDir() },
	} {
		t.Run(name, func(t *testing.T) {
			s := onEmbedded(t, 1)
			s.zerostate = zerostate
			cells := t.TempDir()
			s.lifeOf(bundles[:10], cells)
			older := copyOf(t, cells)
			s.lifeOf(bundles[10:30], cells)
			if gaps := s.lifeOf(bundles[30:], lost(t, older)); gaps != 0 {
				t.Errorf("%v gaps in a log that has every bundle", gaps)
			}
			got := s.published(bundles)
			sameAccounts(t, got, want)
			sameTransactions(t, got, want)
		})
	}
}

func TestWhereTheLogDoesNotReachBackToTheCellStoreItBeginsWithTheOldestBundleAndSaysSo(t *testing.T) {
	bundles, _ := devnet(t, 40, 10)
	older := t.TempDir()
	onEmbedded(t, 1).lifeOf(bundles[:5], older)
	for name, cells := range map[string]string{"an older copy": older, "no store": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			s := onEmbedded(t, 1)
			s.lifeOf(bundles[9:30], t.TempDir())
			if gaps := s.lifeOf(bundles[30:], cells); gaps != 1 {
				t.Errorf("%v gaps were counted, want 1", gaps)
			}
			again := 0
			if err := s.Read(t.Context(), schema.Accounts.Name, 0, 0, func(item kafka.Item) error {
				if item.Record.McSeqno == bundles[9].mcSeqno && item.Record.GetSeal() != nil {
					again++
				}
				return nil
			}); err != nil || again != 2 {
				t.Errorf("the oldest bundle was published %d times, want 2; %v", again, err)
			}
			s.checkAll(bundles[9:])
		})
	}
}

func TestADamagedCellStoreEndsTheStage(t *testing.T) {
	bundles, zerostate := devnet(t, 30, 40)
	s := onEmbedded(t, 1)
	s.zerostate = zerostate
	cells := t.TempDir()
	s.lifeOf(bundles[:20], cells)
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = cells
	s.stop(s.start(configuration)) // what was written becomes a table
	tables, err := filepath.Glob(filepath.Join(cells, "*", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables %v, %v", tables, err)
	}
	for _, table := range tables {
		content, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		for at := 64; at < len(content); at += 1024 {
			content[at] ^= 8
		}
		if err := os.WriteFile(table, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.feed(bundles[20:])
	c, err := New(configuration, Dependencies{Report: report.Silent(), Kafka: s.Client})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
	case <-time.After(time.Minute):
		t.Error("the stage goes on")
	}
	if err := c.Stop(t.Context()); !errors.Is(err, localstore.ErrDamaged) {
		t.Errorf("the stage ended with %v, want %v", err, localstore.ErrDamaged)
	}
}

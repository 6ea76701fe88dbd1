package ingest

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/report"
	"tonscribe/test/support/logtest"
)

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		status Status
		rate   float64
		took   time.Duration
		want   string
	}{
		{Status{From: 1, To: 100, Passed: 25, Bundles: 25, Blocks: 90}, 5, 5 * time.Second,
			"ingest  masterchain block 25  25 bundles  90 blocks  5.0 bundles/s  25.0 %  15s left"},
		{Status{From: 11, SourceLast: 30, Passed: 20, Bundles: 8, Blocks: 20, Gaps: 2, Waiting: "x"}, 0, time.Second,
			"ingest  masterchain block 20  8 bundles  20 blocks  2 skipped  50.0 %  1s left  waiting for a block"},
		{Status{From: 1, To: 2, Passed: 2, Bundles: 2, Blocks: 3, Done: true}, 1, 61 * time.Second,
			"ingest  masterchain block 2  2 bundles  3 blocks  1.0 bundles/s  done in 1m1s"},
		{Status{From: 1, To: 2}, 0, time.Second,
			"ingest  masterchain block 0  0 bundles  0 blocks  0.0 %  ? left"},
	} {
		if got := progressLine(c.status, c.rate, c.took); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestLag(t *testing.T) {
	for _, c := range []struct {
		status Status
		want   uint32
	}{
		{Status{To: 100, Passed: 25, SourceLast: 40}, 75},
		{Status{Passed: 25, SourceLast: 40}, 15},
		{Status{Passed: 40, SourceLast: 40}, 0},
		{Status{To: 30, Passed: 40, SourceLast: 40}, 0},
	} {
		if got := c.status.Lag(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.status, got, c.want)
		}
	}
}

func TestATerminalShowsTheEnd(t *testing.T) {
	screen := &logtest.Book{}
	made, err := New(configure("files:"+genesis(t), 1, 60), Dependencies{Report: report.Silent(), Log: newTape(1), Terminal: screen})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, made)
	if err := made.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if text := screen.String(); !strings.Contains(text, "masterchain block 60") || !strings.HasSuffix(text, "done in 0s\n") {
		t.Errorf("screen shows %q", text)
	}
}

func TestPublishingWaitsForTheNextStage(t *testing.T) {
	conf := configure("files:"+genesis(t), 1, 60)
	conf.MaxBacklog = 100
	log, asked := newTape(1), 0
	made, err := New(conf, Dependencies{Report: report.Silent(), Log: log, Backlog: func(context.Context) (int64, error) {
		if asked++; asked < 3 {
			if seal, _ := log.LastSeal(t.Context(), "", 0); seal != nil {
				t.Errorf("bundle %d was published", seal.McSeqno)
			}
			return 101, nil
		}
		return 100, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, made)
	await(t, made)
	if asked < 3 || made.Status().Published != 60 {
		t.Errorf("asked %d times, %+v", asked, made.Status())
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	for want, set := range map[string]func(*Configuration){
		"on_gap \"later\"":                               func(c *Configuration) { c.OnGap = "later" },
		"--from 9 is after --to 8":                       func(c *Configuration) { c.From, c.To = 9, 8 },
		"window must be above 0":                         func(c *Configuration) { c.Window = 0 },
		"at most 1000000 and 10000":                      func(c *Configuration) { c.Window = math.MaxInt },
		"readers 9223372036854775807":                    func(c *Configuration) { c.Readers = math.MaxInt },
		"max_backlog and skip_after may not be negative": func(c *Configuration) { c.MaxBacklog = -1 },
		"no source of blocks":                            func(c *Configuration) { c.Source = "" },
	} {
		c := configure("files:x", 1, 2)
		set(&c)
		_, err := New(c, Dependencies{Report: report.Silent(), Log: newTape(1)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

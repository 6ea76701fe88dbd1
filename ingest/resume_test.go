package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/litetest"
)

func TestARunCutAnywhereGoesOnWithTheSameStream(t *testing.T) {
	for _, c := range []struct {
		name       string
		partitions int
		window     int
		missing    []string
	}{
		{"one partition", 1, 64, nil},
		{"four partitions", 4, 64, nil},
		{"four partitions, bundles one by one", 4, 1, nil},
		{"four partitions, with gaps", 4, 8, []string{name(0, whole, 5), name(-1, whole, 30)}},
		{"four partitions, with a gap at the start", 4, 64, []string{name(-1, whole, 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := genesis(t)
			if len(c.missing) > 0 {
				dir = copyFolder(t, dir)
			}
			for _, file := range c.missing {
				remove(file)(t, dir)
			}
			conf := configure("files:"+dir, 1, 60)
			conf.OnGap, conf.Window = Skip, c.window
			want := newTape(c.partitions)
			publish(t, conf, want)
			for left := 1; left < 150; left += 13 {
				log := newTape(c.partitions)
				runs := 0
				for done := false; !done; runs++ {
					done = runUntilCut(t, conf, log, left*(1+runs/4))
				}
				for p := range c.partitions {
					compareStreams(t, fmt.Sprintf("cut after %d records, partition %d, %d runs", left, p, runs), log.read(t, p), want.read(t, p))
				}
			}
		})
	}
}

// runUntilCut runs the stage until the log has taken some records, and says
// whether it came to its end before.
func runUntilCut(t *testing.T, conf Configuration, log *tape, left int) bool {
	t.Helper()
	log.left, log.cut = left, func() {}
	made := component(t, conf, log)
	if err := made.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, made)
	err := made.Err()
	if err := made.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return err == nil
}

func compareStreams(t *testing.T, what string, got, want []*record.Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d records, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !got[i].EqualVT(want[i]) {
			t.Fatalf("%s: record %d is %v, want %v", what, i, text(got[i:i+1]), text(want[i:i+1]))
		}
	}
}

func TestAPartitionHoldsTheBlocksOfItsShards(t *testing.T) {
	const partitions = 4
	log := newTape(partitions)
	publish(t, configure("archive:"+packs(t), 1, 199), log)
	all := newTape(1)
	publish(t, configure("archive:"+packs(t), 1, 199), all)
	for p := range partitions {
		var want []string
		for _, r := range all.read(t, 0) {
			if b := r.GetRawBlock(); b != nil {
				if first, last := schema.PartitionsOf(b.Id.Shard, partitions); first <= p && p <= last {
					want = append(want, FormatID(b.Id))
				}
			}
		}
		var got []string
		records := log.read(t, p)
		for _, r := range records {
			if b := r.GetRawBlock(); b != nil {
				got = append(got, FormatID(b.Id))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("partition %d holds %d blocks, want %d", p, len(got), len(want))
		}
		if n := len(bundles(records)); n != 199 {
			t.Errorf("partition %d has %d seals, want 199", p, n)
		}
	}
}

func TestLimitsOfMemoryAndReadersDoNotChangeTheStream(t *testing.T) {
	want := newTape(1)
	publish(t, configure("archive:"+packs(t), 1, 199), want)
	for _, set := range []func(*Configuration){
		func(c *Configuration) { c.Window, c.Readers, c.WindowBytes, c.ChunkBytes = 1, 1, 1, 1 },
		func(c *Configuration) { c.Window, c.WindowBytes = 100, 1 },
		func(c *Configuration) { c.Window, c.Readers, c.WindowBytes = 3, 20, 20000 },
	} {
		conf := configure("archive:"+packs(t), 1, 199)
		set(&conf)
		log := newTape(1)
		made := publish(t, conf, log)
		compareStreams(t, fmt.Sprintf("%+v", conf), log.read(t, 0), want.read(t, 0))
		if n := made.metrics; n == nil || made.Status().Bundles != 199 {
			t.Errorf("status %+v", made.Status())
		}
	}
}

func TestARunGoesOnWhereTheLogEnds(t *testing.T) {
	dir := genesis(t)
	log := newTape(2)
	publish(t, configure("files:"+dir, 1, 20), log)
	for _, c := range []struct {
		from, to uint32
		err      string
		done     bool
	}{
		{from: 1, to: 20, done: true},
		{from: 5, to: 10, done: true},
		{from: 22, to: 30, err: "--from 22: the log ends with masterchain block 20, so blocks 21 to 21 would be left out"},
		{from: 21, to: 30},
		{from: 0, to: 40},
		{from: 1, to: 60},
	} {
		before := len(log.records[0])
		made := component(t, configure("files:"+dir, c.from, c.to), log)
		err := made.Start(t.Context())
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("from %d: error %v, want %q", c.from, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		await(t, made)
		if err := errors.Join(made.Err(), made.Stop(context.Background())); err != nil {
			t.Fatal(err)
		}
		if !made.Status().Done || c.done != (len(log.records[0]) == before) {
			t.Errorf("from %d to %d: %d records more, status %+v", c.from, c.to, len(log.records[0])-before, made.Status())
		}
	}
	checkBundleBounds(t, log, 60)
}

func checkBundleBounds(t *testing.T, log *tape, last uint32) {
	t.Helper()
	for p := range log.partitions {
		got := bundles(log.read(t, p))
		if len(got) != int(last) || got[len(got)-1] != last {
			t.Errorf("partition %d: bundles %v, want 1 to %d", p, got, last)
		}
	}
}

func TestNothingIsPutInFrontOfWhatThereIs(t *testing.T) {
	log := newTape(2)
	publish(t, configure("files:"+genesis(t), 12, 20), log)
	for _, c := range []struct {
		log      *tape
		store    uint32 // its first bundle, 0 without a store
		from, to uint32
		err      string
	}{
		{newTape(1), 10, 3, 60, "--from 3: the store begins at masterchain block 10"},
		{newTape(1), 10, 0, 9, "--to 9: the store begins at masterchain block 10"},
		{newTape(1), 10, 3, 9, "--to 9: the store begins at masterchain block 10"},
		{log, 12, 3, 60, "--from 3: the store begins at masterchain block 12"},
		{log, 0, 3, 60, "--from 3: the log begins at masterchain block 12"},
		{log, 0, 0, 11, "--to 11: the log begins at masterchain block 12"},
		{log, 0, 12, 12, ""},
		{log, 0, 0, 12, ""},
	} {
		made := component(t, configure("files:"+genesis(t), c.from, c.to), c.log)
		made.dependencies.First = func(context.Context) (uint32, bool, error) { return c.store, c.store > 0, nil }
		err := made.Start(t.Context())
		if err == nil {
			await(t, made)
		}
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("from %d to %d: error %v, want %q", c.from, c.to, err, c.err)
		}
	}
}

// The store then begins behind what was asked for, and the same command goes on with it.
func TestARunWhoseFirstBundlesWereSkippedCanBeStartedAgain(t *testing.T) {
	dir := copyFolder(t, genesis(t))
	remove(name(-1, whole, 1))(t, dir)
	log := newTape(1)
	for _, to := range []uint32{20, 60} {
		conf := configure("files:"+dir, 1, to)
		conf.OnGap = Skip
		made := component(t, conf, log)
		made.dependencies.First = func(context.Context) (uint32, bool, error) { return 3, to > 20, nil }
		begin(t, made)
		await(t, made)
		if err := made.Err(); err != nil {
			t.Fatal(err)
		}
		if got := bundles(log.read(t, 0)); got[0] != 3 || got[len(got)-1] != to {
			t.Errorf("bundles %d to %d, want 3 to %d", got[0], got[len(got)-1], to)
		}
	}
}

func TestASealIsEnoughToGoOn(t *testing.T) {
	log := newTape(1)
	publish(t, configure("files:"+genesis(t), 1, 35), log)
	dir := copyFolder(t, genesis(t))
	for n := 1; n <= 35; n++ {
		remove(name(-1, whole, n))(t, dir)
	}
	publish(t, configure("files:"+dir, 0, 60), log)
	want := newTape(1)
	publish(t, configure("files:"+genesis(t), 1, 60), want)
	compareStreams(t, "after a seal", log.read(t, 0), want.read(t, 0))
}

func TestAnotherChainDoesNotContinueTheLog(t *testing.T) {
	log := newTape(1)
	publish(t, configure("files:"+genesis(t), 1, 20), log)
	book := &logBook{said: make(chan struct{}, 100)}
	made := observed(t, configure("archive:"+packs(t), 0, 60), log, book)
	begin(t, made)
	book.await(t, "(-1,8000000000000000,21)", "but the chain ends with", "parent")
	if got := bundles(log.read(t, 0)); got[len(got)-1] != 20 {
		t.Errorf("bundle %d was published", got[len(got)-1])
	}
}

// Not where bad blocks are skipped either: whether the source has it from the
// beginning on, or it comes block by block.
func TestAnotherChainIsNothingToSkip(t *testing.T) {
	log := newTape(1)
	publish(t, configure("files:"+genesis(t), 1, 20), log)
	conf := configure("archive:"+packs(t), 0, 60)
	conf.OnBad, conf.OnGap = Skip, Skip
	book := &logBook{said: make(chan struct{}, 100)}
	made := observed(t, conf, log, book)
	begin(t, made)
	book.await(t, "waiting", "(-1,8000000000000000,21)", "has another chain")

	d := litetest.NewDevnet(t, 1, 60)
	dir := t.TempDir()
	d.Write(t, dir)
	files, err := NewSource(configure("files:"+dir, 0, 60), report.Silent())
	if err != nil {
		t.Fatal(err)
	}
	grows := &growing{Source: files, last: 21}
	grown := newTape(1)
	publish(t, configure("files:"+genesis(t), 1, 20), grown)
	conf.Source = "files:" + dir
	made = componentOf(t, conf, Dependencies{Report: report.Silent(), Log: grown, Source: grows})
	begin(t, made)
	await(t, made)
	for _, log := range []*tape{log, grown} {
		if got := bundles(log.read(t, 0)); got[len(got)-1] != 20 {
			t.Errorf("bundle %d was published", got[len(got)-1])
		}
	}
}

// growing is a source that has one block more whenever it is asked for one.
type growing struct {
	Source
	last uint32
}

func (g *growing) Range() (first, last uint32) {
	first, _ = g.Source.Range()
	return first, g.last
}

func (g *growing) Refresh(context.Context, uint32) error {
	g.last++
	return nil
}

func TestTheSourceIsFollowedAsItGrows(t *testing.T) {
	dir := copyFolder(t, genesis(t))
	later := t.TempDir()
	for n := 41; n <= 60; n++ {
		if err := os.Rename(filepath.Join(dir, name(-1, whole, n)), filepath.Join(later, name(-1, whole, n))); err != nil {
			t.Fatal(err)
		}
	}
	log, book := newTape(1), &logBook{said: make(chan struct{}, 100)}
	conf := configure("files:"+dir, 1, 0)
	conf.OnGap, conf.SkipAfter = Skip, time.Minute // what has not come yet is no gap
	made := observed(t, conf, log, book)
	begin(t, made)
	book.await(t, "waiting for the source to go on")
	for n := 60; n > 40; n-- {
		if err := os.Rename(filepath.Join(later, name(-1, whole, n)), filepath.Join(dir, name(-1, whole, n))); err != nil {
			t.Fatal(err)
		}
	}
	log.await(t, 60)
	if err := made.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := bundles(log.read(t, 0)); len(got) != 60 {
		t.Errorf("%d bundles, want 60", len(got))
	}
	if !errors.Is(made.Err(), context.Canceled) {
		t.Errorf("error %v", made.Err())
	}
}

package ingest

import (
	"context"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/report"
)

// headSource tells of its newest blocks only, as lite servers do.
type headSource struct {
	Source
	first uint32
}

func (s headSource) Range() (first, last uint32) {
	_, last = s.Source.Range()
	return s.first, last
}

// A log that was made anew goes on after what is indexed, although the source would begin
// later; an index that has more than the source begins with gets all of it again.
func TestALogThatWasMadeAnewLeavesOutNoBundleThatTheStoreLacks(t *testing.T) {
	for newest, want := range map[uint32]uint32{0: 51, 20: 21, 49: 50, 50: 51, 55: 51} {
		conf := configure("files:"+genesis(t), 0, 60)
		files, err := NewSource(conf, report.Silent())
		if err != nil {
			t.Fatal(err)
		}
		log := newTape(1)
		made := componentOf(t, conf, Dependencies{Report: report.Silent(), Log: log, Source: headSource{files, 50},
			Newest: func(context.Context) (uint32, error) { return newest, nil }})
		begin(t, made)
		await(t, made)
		if err := made.Err(); err != nil {
			t.Fatal(err)
		}
		if first := log.read(t, 0)[0]; first.McSeqno != want || first.PrevMcSeqno != 0 {
			t.Errorf("the store ends with bundle %d: the log begins with %d after %d, want %d after none", newest, first.McSeqno, first.PrevMcSeqno, want)
		}
	}
}

// What a folder begins behind does not come by itself.
func TestASourceThatBeginsTooLateIsToldOfAtOnce(t *testing.T) {
	late := copyFolder(t, genesis(t))
	for n := range 30 {
		remove(name(-1, whole, n+1))(t, late)
	}
	for _, c := range []struct {
		what       string
		log, from  uint32 // the log's newest bundle, and the first one that is asked for
		newest     uint32 // of the store
		says, todo string
	}{
		{"an index from its first bundle on, of which the log was deleted", 0, 1, 20, "bundle 1 comes next, and the source begins with masterchain block 31", "start with --from 32 or higher"},
		{"an index of which the log was deleted", 0, 0, 20, "bundle 21 needs masterchain block 20", "start with --from 32 or higher"},
		{"an index that has its log", 20, 0, 20, "bundle 21 comes next, and the source begins with masterchain block 31", "start over with an empty --data folder"},
	} {
		log := newTape(1)
		if c.log > 0 {
			publish(t, configure("files:"+genesis(t), 1, c.log), log)
		}
		made := componentOf(t, configure("files:"+late, c.from, 60), Dependencies{Report: report.Silent(), Log: log,
			Newest: func(context.Context) (uint32, error) { return c.newest, nil }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := made.Start(ctx)
		cancel()
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.todo) {
			t.Errorf("%s: %v, want %q and %q", c.what, err, c.says, c.todo)
		}
	}
}

// It would never end: nothing of the range comes.
func TestARangeThatEndsBeforeTheSourceBeginsIsRefused(t *testing.T) {
	for first, refused := range map[uint32]bool{40: false, 45: true, 50: true} {
		conf := configure("files:"+genesis(t), 0, 45)
		files, err := NewSource(conf, report.Silent())
		if err != nil {
			t.Fatal(err)
		}
		made := componentOf(t, conf, Dependencies{Report: report.Silent(), Log: newTape(1), Source: headSource{files, first}})
		err = made.Start(t.Context())
		if err == nil {
			await(t, made)
		}
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "--to 45") {
			t.Errorf("a source that begins with block %d: %v, and bundle %d is the last one; want an error that names --to 45: %t", first, err, made.Status().Published, refused)
		}
	}
}

package ingest

import (
	"context"
	"testing"

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

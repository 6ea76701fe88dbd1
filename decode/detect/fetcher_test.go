package detect

import (
	"testing"

	"tonscribe/schema/record"
)

func TestWhatArrivesGoesIntoBundlesInPortions(t *testing.T) {
	f := &fetcher{}
	const answers = 40
	for n := range answers {
		f.arrived = append(f.arrived, &record.AccountBatch{Late: []*record.Account{{LastTransLt: uint64(n), Data: make([]byte, maxTaken/10)}}})
	}
	next, portions := uint64(0), 0
	for batch := f.take(); batch != nil; batch = f.take() {
		portions++
		if size := batch.SizeVT(); size > maxTaken {
			t.Errorf("portion %d has %d bytes, want at most %d", portions, size, maxTaken)
		}
		for _, a := range batch.Late {
			if a.LastTransLt != next {
				t.Errorf("answer %d comes where %d should", a.LastTransLt, next)
			}
			next++
		}
	}
	if next != answers || portions < 4 {
		t.Errorf("%d answers came in %d portions, want %d in 4 or more", next, portions, answers)
	}
	f.arrived = []*record.AccountBatch{{Config: make([]byte, 2*maxTaken)}}
	if batch := f.take(); len(batch.GetConfig()) != 2*maxTaken {
		t.Errorf("one answer that is larger by itself has %d bytes, want all %d", len(batch.GetConfig()), 2*maxTaken)
	}
}

package detect

import (
	"testing"

	"tonscribe/internal/lite"
	"tonscribe/schema/record"
)

// A parent that is gone, or something else, when the answer about it comes is not brought
// back by that; one that has not changed, or before what was answered, is taken.
func TestAnAnswerThatTheLogHasPassedChangesNothing(t *testing.T) {
	at, init := minter.Address(0), minter.StateInit()
	for name, c := range map[string]struct {
		becomes []state // while lite servers are asked
		ahead   uint64  // how far the answer is ahead of that
		master  bool
	}{
		"a master that is gone":             {[]state{{at: at}}, 0, false},
		"a master that is another contract": {[]state{{at: at, init: faces(at, false, false)}}, 0, false},
		"a master that is there again":      {[]state{{at: at}}, 100, true},
		"a master that has not changed":     {nil, 0, true},
	} {
		s := newScript(t)
		s.lite = new(lite.Pool)
		s.fetcher = newFetcher(s.Component)
		purse := minter.Wallet(0, person(2))
		s.next([]state{{at: purse.Address(0), init: purse.StateInit()}})
		if !s.fetcher.queue.Has(want{wantParent, string(raw(at))}) {
			t.Fatal("lite servers are not to be asked for the master")
		}
		answer := &record.Account{Account: raw(at), LastTransLt: s.lt + 5 + c.ahead, Now: 1_750_000_000, Data: init.Data.ToBOC(),
			State: &record.AccountState{Status: record.AccountStatus_ACCOUNT_ACTIVE, Balance: 1e9, CodeHash: init.Code.Hash(), DataHash: init.Data.Hash()}}
		s.next(c.becomes)
		s.fetcher.keep(want{wantParent, string(raw(at))}, &record.AccountBatch{Late: []*record.Account{answer},
			Codes: []*record.Code{{Hash: init.Code.Hash(), Boc: init.Code.ToBOC()}}})
		s.next(nil)
		if is := s.of(at).GetJettonMaster() != nil; is != c.master {
			t.Errorf("%s: it is %v, want a master: %t", name, s.of(at), c.master)
		}
		if is := s.of(purse.Address(0)).GetJettonWallet() != nil; is != c.master {
			t.Errorf("%s: its wallet is %v, want one: %t", name, s.of(purse.Address(0)), c.master)
		}
		if len(s.fetcher.passed) != 0 || len(s.fetcher.coming) != 0 {
			t.Errorf("%s: %v and %v are kept of an answer that was taken", name, s.fetcher.passed, s.fetcher.coming)
		}
	}
}

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

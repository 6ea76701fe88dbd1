package detect

import (
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// What contracts were as of any bundle is what was told of them up to it, but for what
// changes all the time; and it is told only where something else has changed.
func TestWhatContractsWereIsKnownOfEveryBundle(t *testing.T) {
	w := newTown(t, 60, 120)
	d := newDesk(t, t.TempDir())
	type fact struct {
		mcSeqno  uint32
		contract *record.Contract
	}
	told := map[string][]fact{}
	var last uint32
	rows := 0
	for _, s := range w.steps {
		b := s.bundle()
		d.do(b)
		last = b.mcSeqno
		for account, c := range d.contracts {
			if c.McSeqno == last {
				rows++
				told[account] = append(told[account], fact{last, c.CloneVT()})
			}
		}
	}
	past := map[string][]*record.Contract{}
	for _, c := range d.past {
		list := past[string(c.Account)]
		if len(list) > 0 && list[len(list)-1].McSeqno >= c.McSeqno {
			t.Errorf("account %x: what it was before bundle %d comes after that of %d", c.Account, c.McSeqno, list[len(list)-1].McSeqno)
		}
		past[string(c.Account)] = append(list, c)
	}
	compared := 0
	for account, facts := range told {
		now := facts[len(facts)-1].contract
		for bundle := uint32(0); bundle <= last; bundle++ {
			var want, was *record.Contract
			for _, f := range facts {
				if f.mcSeqno <= bundle && !schema.IsNothing(f.contract) {
					want = schema.LastingOf(f.contract)
				} else if f.mcSeqno <= bundle {
					want = nil
				}
			}
			for _, c := range past[account] {
				if c.McSeqno > bundle {
					was = c
					break
				}
			}
			if have := schema.ContractAsOf(bundle, was, now); !have.EqualVT(want) {
				t.Fatalf("account %x as of bundle %d is %v, want %v", account, bundle, have, want)
			}
			compared++
		}
	}
	if len(d.past) == 0 || len(d.past) > rows/4 || compared < 1000 {
		t.Errorf("%d times something else became of contracts, of %d rows; %d bundles were compared", len(d.past), rows, compared)
	}
}

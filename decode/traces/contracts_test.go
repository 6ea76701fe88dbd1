package traces

import (
	"math/rand/v2"
	"testing"

	"tonscribe/decode/trace"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// life is an account as the stage contracts tells of it.
type life struct {
	now  *record.Contract
	past []*record.Contract
}

// becomes is what a bundle makes of the account; it returns what is told, nil for nothing.
func (l *life) becomes(mcSeqno uint32, c *record.Contract) *record.Contract {
	before := l.now
	if before == nil {
		before = &record.Contract{}
	}
	if schema.IsNothing(before) && schema.IsNothing(c) {
		return nil
	}
	c.Account, c.McSeqno, c.FirstMcSeqno = make([]byte, schema.AddressSize), mcSeqno, before.FirstMcSeqno
	if schema.IsNothing(before) {
		c.FirstMcSeqno = mcSeqno
	} else if past := schema.LastingOf(before); !past.EqualVT(schema.LastingOf(c)) {
		past.McSeqno = mcSeqno
		l.past = append(l.past, past)
	}
	l.now = c
	return c
}

func TestTheStageKnowsOfContractsInTracesWhatTheTablesTell(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var living, gone, nothing int
	for range 500 {
		store := &trace.Memory{}
		k, l, bundle := contracts{store}, &life{}, uint32(1)
		type answer struct {
			start, end uint32
			have       *record.Contract
		}
		var answers []answer
		for range 12 {
			bundle += []uint32{1, 1, 2, 100, schema.GoneBundles / 2, schema.GoneBundles, schema.GoneBundles + 1}[random.IntN(7)]
			c := []*record.Contract{nil, {}, {CodeHash: []byte{1}, Interfaces: []string{"nft_sale"}}, {CodeHash: []byte{1}, Sale: &record.Sale{Price: []byte{byte(random.IntN(3))}}}}[random.IntN(4)]
			if c != nil {
				if told := l.becomes(bundle, c); told != nil {
					if err := k.update(bundle, told); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := k.forget(bundle); err != nil {
				t.Fatal(err)
			}
			for _, start := range []uint32{1, bundle, bundle - 1, bundle - bundle/3, 1 + random.Uint32N(bundle)} {
				have, err := k.in(&record.Trace{McSeqnoStart: start, McSeqnoEnd: bundle}, make([]byte, schema.AddressSize))
				if err != nil {
					t.Fatal(err)
				}
				answers = append(answers, answer{start, bundle, have})
				switch {
				case have == nil:
					nothing++
				case schema.IsNothing(l.now):
					gone++
				default:
					living++
				}
			}
		}
		for _, a := range answers {
			if want := schema.ContractIn(a.start, a.end, l.past, l.now); !a.have.EqualVT(want) {
				t.Fatalf("from bundle %d to %d it was %v, the tables say %v: they have %v and then %v", a.start, a.end, a.have, want, l.past, l.now)
			}
		}
		// What is gone does not stay for ever.
		if told := l.becomes(bundle+1, &record.Contract{}); told != nil {
			if err := k.update(bundle+1, told); err != nil {
				t.Fatal(err)
			}
		}
		if err := k.forget(bundle + schema.GoneBundles + 2); err != nil {
			t.Fatal(err)
		}
		if store.Len() > 0 {
			t.Fatalf("%d values are left in the store", store.Len())
		}
	}
	if living < 1000 || gone < 1000 || nothing < 1000 {
		t.Errorf("%d answers are of what is, %d of what was, %d are none: too little is seen", living, gone, nothing)
	}
}

package reclassify

import (
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

func TestAContractIsWhatItWasInTheTrace(t *testing.T) {
	var a account
	sale := func(mcSeqno, first uint32, price byte) *record.Contract {
		return &record.Contract{Account: a[:], McSeqno: mcSeqno, FirstMcSeqno: first, Sale: &record.Sale{Price: []byte{price}}}
	}
	// Known from bundle 10 on, changed with 20, gone with 30; there again from 40 on, gone with 50.
	facts := &facts{known: map[account]*contract{a: {
		past: []*record.Contract{sale(20, 10, 1), sale(30, 10, 2), sale(50, 40, 3)},
		now:  &record.Contract{Account: a[:], McSeqno: 50, FirstMcSeqno: 40},
	}}}
	for _, c := range []struct {
		start, end uint32
		price      byte // 0 for nothing
	}{
		{5, 9, 0}, {5, 10, 1}, {19, 19, 1}, {19, 20, 2}, {29, 29, 2},
		{29, 30, 2}, {30, 30, 2}, {30, 39, 2}, {31, 31, 0}, {31, 39, 0},
		{30, 40, 3}, {49, 60, 3}, {50, 50 + schema.GoneBundles, 3}, {50, 51 + schema.GoneBundles, 0}, {51, 60, 0},
	} {
		of := &factsOf{facts: facts, trace: &record.Trace{McSeqnoStart: c.start, McSeqnoEnd: c.end}}
		var price byte
		if was := of.Contract(a[:]); was != nil {
			price = was.Sale.Price[0]
			if was.McSeqno != 0 {
				t.Errorf("from bundle %d to %d: it has a bundle", c.start, c.end)
			}
		}
		if price != c.price || of.missed {
			t.Errorf("from bundle %d to %d its price was %d, want %d", c.start, c.end, price, c.price)
		}
	}
}

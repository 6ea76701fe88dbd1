package store

import (
	"testing"
	"time"
)

func TestWhoWaitedForATurnWithADirectoryThatWasDroppedMeanwhileDoesNotUseIt(t *testing.T) {
	v := &View{Watermark: 7}
	dropped := &directory{codes: []Hash{noCode}, numbers: map[Hash]uint32{noCode: 0}}
	usable, err := dropped.learnInTurn(t.Context(), nil, v)
	if usable || err != nil {
		t.Errorf("a dropped directory: usable %t, %v; want false and no error", usable, err)
	}
	brought := &directory{upTo: 7}
	if usable, err = brought.learnInTurn(t.Context(), nil, v); !usable || err != nil {
		t.Errorf("a directory that somebody else brought to the view: usable %t, %v; want true and no error", usable, err)
	}
}

func TestAnAccountThatWasLookedUpInVainIsNotLookedUpAgainUntilABundleHasItOrItIsLate(t *testing.T) {
	d := &directory{held: map[uint64]holding{}, codes: []Hash{noCode}, numbers: map[Hash]uint32{noCode: 0}}
	gone, there, other := Address{35: 1}, Address{35: 2}, Address{35: 3}
	d.miss([]Address{gone, there}, map[Address]Hash{gone: notKnown, there: {9}})
	for a, want := range map[Address]bool{gone: true, there: false, other: false} {
		if code, known := d.get(a); known != want || known && code != notKnown {
			t.Errorf("account %x: %x, known %t; want known %t", a, code, known, want)
		}
	}
	d.put(gone, 4, d.number(Hash{7}))
	if code, known := d.get(gone); !known || code != (Hash{7}) {
		t.Errorf("after a bundle has it: %x, known %t; want %x", code, known, Hash{7})
	}
	d.miss([]Address{other}, map[Address]Hash{other: notKnown})
	for key, a := range d.absent {
		a.until = time.Now().Add(-time.Second)
		d.absent[key] = a
	}
	if _, known := d.get(other); known {
		t.Error("an absence of long ago is still believed")
	}
}

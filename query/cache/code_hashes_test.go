package cache

import (
	"testing"
	"time"

	"tonscribe/ton/address"
)

func TestWhoWaitedForATurnWithADirectoryThatWasDroppedMeanwhileDoesNotUseIt(t *testing.T) {
	dropped := &CodeHashes{codes: []Hash{NoCode}, numbers: map[Hash]uint32{NoCode: 0}}
	usable, err := dropped.advanceInTurn(t.Context(), 7)
	if usable || err != nil {
		t.Errorf("a dropped directory: usable %t, %v; want false and no error", usable, err)
	}
	brought := &CodeHashes{upTo: 7}
	if usable, err = brought.advanceInTurn(t.Context(), 7); !usable || err != nil {
		t.Errorf("a directory that somebody else brought to the view: usable %t, %v; want true and no error", usable, err)
	}
}

func TestAnAccountThatWasLookedUpInVainIsNotLookedUpAgainUntilABundleHasItOrItIsLate(t *testing.T) {
	d := &CodeHashes{held: map[uint64]holding{}, codes: []Hash{NoCode}, numbers: map[Hash]uint32{NoCode: 0}}
	gone, there, other := address.Address{35: 1}, address.Address{35: 2}, address.Address{35: 3}
	d.miss([]address.Address{gone, there}, map[address.Address]Hash{gone: NotKnown, there: {9}})
	for a, want := range map[address.Address]bool{gone: true, there: false, other: false} {
		if code, known := d.get(a); known != want || known && code != NotKnown {
			t.Errorf("account %x: %x, known %t; want known %t", a, code, known, want)
		}
	}
	d.put(gone, 4, d.number(Hash{7}))
	if code, known := d.get(gone); !known || code != (Hash{7}) {
		t.Errorf("after a bundle has it: %x, known %t; want %x", code, known, Hash{7})
	}
	d.miss([]address.Address{other}, map[address.Address]Hash{other: NotKnown})
	for key, a := range d.absent {
		a.until = time.Now().Add(-time.Second)
		d.absent[key] = a
	}
	if _, known := d.get(other); known {
		t.Error("an absence of long ago is still believed")
	}
}

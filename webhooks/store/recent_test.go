package store

import (
	"encoding/binary"
	"testing"
)

func TestRecentPaymentsAreHeldUpToANumberTheOldestGoFirst(t *testing.T) {
	var r recent
	numbered := func(n int) (p Payment) {
		binary.BigEndian.PutUint32(p.Reference[:], uint32(n))
		binary.BigEndian.PutUint32(p.BodyHash[:], uint32(n))
		return p
	}
	const more = 3
	for n := range maxRecent + more {
		r.add(numbered(n))
		r.add(numbered(n)) // once more is the same
	}
	if len(r.of) != maxRecent || len(r.byBody) != maxRecent || len(r.order) != maxRecent {
		t.Errorf("%d payments by %d bodies in an order of %d are held, want %d", len(r.of), len(r.byBody), len(r.order), maxRecent)
	}
	for n, want := range map[int]bool{0: false, more - 1: false, more: true, maxRecent + more - 1: true} {
		found := map[Reference]Payment{}
		others := r.find([]Reference{numbered(n).Reference}, found)
		references, bodies := r.ofBodies([]Hash{numbered(n).BodyHash})
		if (len(found) == 1) != want || (len(others) == 0) != want || (len(references) == 1) != want || (len(bodies) == 0) != want {
			t.Errorf("payment %d is held: %t by reference, %t by body, want %t", n, len(found) == 1, len(references) == 1, want)
		}
	}
}

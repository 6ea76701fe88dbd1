package main

import "testing"

// TestMemoryThatIsUsedAgainSoonIsKept: what a collection has just left unused goes back
// to the system only when nobody will ask for it.
func TestMemoryThatIsUsedAgainSoonIsKept(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		what        string
		before, now memoryUse
		idle        bool
	}{
		{"nothing was asked for since", memoryUse{300 * mib, 5000 * mib}, memoryUse{300 * mib, 5000 * mib}, true},
		{"little was asked for since", memoryUse{700 * mib, 5000 * mib}, memoryUse{600 * mib, 5100 * mib}, true},
		{"all of it is used within a minute", memoryUse{300 * mib, 5000 * mib}, memoryUse{200 * mib, 5100 * mib}, false},
		{"it was used before", memoryUse{10 * mib, 5000 * mib}, memoryUse{700 * mib, 5100 * mib}, false},
		{"there is little", memoryUse{60 * mib, 5000 * mib}, memoryUse{60 * mib, 5000 * mib}, false},
	} {
		if got := c.now.idleSince(c.before); got != c.idle {
			t.Errorf("%s: idle is %t, want %t", c.what, got, c.idle)
		}
	}
}

package devnet

import "testing"

func TestSiblingsAreTheTwoHalvesOfAShard(t *testing.T) {
	for _, c := range [][2]uint64{
		{0x4000000000000000, 0xc000000000000000},
		{0x2000000000000000, 0x6000000000000000},
		{0xa000000000000000, 0xe000000000000000},
		{0x1000000000000000, 0x3000000000000000},
	} {
		if a, b := siblingOf(c[0]), siblingOf(c[1]); a != c[1] || b != c[0] {
			t.Errorf("siblings of %016x and %016x are %016x and %016x", c[0], c[1], a, b)
		}
	}
}

func TestLargerShardsComeFirstAmongThoseToSplit(t *testing.T) {
	half, quarter, other := uint64(0xc000000000000000), uint64(0x2000000000000000), uint64(0x6000000000000000)
	for _, c := range []struct {
		a, b uint64
		want int
	}{{half, quarter, 1}, {quarter, half, -1}, {quarter, other, 1}, {other, other, 0}} {
		if got := compareSizes(c.a, c.b); got != c.want {
			t.Errorf("%016x against %016x: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

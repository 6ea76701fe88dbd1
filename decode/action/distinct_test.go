package action

import (
	"math/rand/v2"
	"testing"
)

func TestDistinctNamesKeepTheirOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{1, few, few + 1, 5 * few} {
		var d distinct
		var list []Address
		var want []byte
		for range 3 * size {
			n := byte(r.IntN(size))
			list = addDistinct(&d, list, Address{n})
			known := false
			for _, w := range want {
				known = known || w == n
			}
			if !known {
				want = append(want, n)
			}
		}
		if len(list) != len(want) {
			t.Fatalf("of %d names: %d, want %d", size, len(list), len(want))
		}
		for i := range list {
			if list[i][0] != want[i] {
				t.Fatalf("of %d names: %x, want %x", size, list, want)
			}
		}
	}
}

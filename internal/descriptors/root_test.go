package descriptors

import "testing"

func TestSharesLeaveDescriptorsForWhatHasNone(t *testing.T) {
	for _, limit := range []int{256, 1024, 8000, 20000} {
		taken := share(1<<20, HTTP, limit) + share(1<<20, LiteServer, limit) + 3*share(maxStoreFiles, store, limit)
		if most := limit - min(limit/4, 2000); taken > most {
			t.Errorf("of %d descriptors the shares take %d, want at most %d", limit, taken, most)
		}
	}
	if got := share(100, HTTP, 20000); got != 100 {
		t.Errorf("a share of 100 that fits is %d", got)
	}
	if got := share(100, HTTP, 2); got != 1 {
		t.Errorf("the least share is %d, want 1", got)
	}
}

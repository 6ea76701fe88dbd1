package node

import (
	"errors"
	"testing"
)

func TestWhatIsKeptIsBoundedAndWhatIsMissingIsAskedForAgain(t *testing.T) {
	k, asked := newKept[int, string](3), 0
	find := func(key int, there bool, fails error) string {
		t.Helper()
		value, err := k.find(key, func() (string, bool, error) {
			asked++
			return "found", there, fails
		})
		if !errors.Is(err, fails) {
			t.Fatalf("%v, want %v", err, fails)
		}
		return value
	}
	find(1, false, nil)
	find(1, true, errors.New("broken"))
	for range 5 {
		if got := find(1, true, nil); got != "found" {
			t.Errorf("found %q", got)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times, want 3: what is missing, what failed, and once", asked)
	}
	for key := range 100 {
		find(key, true, nil)
	}
	k.held.CleanUp()
	if n := k.held.EstimatedSize(); n > 3 {
		t.Errorf("%d values are kept, at most 3 may be", n)
	}
}

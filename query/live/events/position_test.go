package events

import (
	"math"
	"testing"
)

func TestPositionsAreReadAsTheyAreWrittenAndNoOther(t *testing.T) {
	for _, c := range []struct {
		text string
		want Position
	}{
		{"0", EndOf(0)}, {"52331876", EndOf(52331876)}, {"52331876-17", Position{52331876, 17}},
		{"4294967295-4294967294", Position{math.MaxUint32, math.MaxUint32 - 1}},
	} {
		got, err := ParsePosition(c.text)
		if err != nil || got != c.want || got.String() != c.text {
			t.Errorf("%s is %+v (%s), %v; want %+v", c.text, got, got, err, c.want)
		}
	}
	for _, text := range []string{"", "-", "1-", "-1", "01", "1-01", "+1", "1 ", "1-2-3", "4294967296", "1-4294967295", "0x1", "1e3"} {
		if got, err := ParsePosition(text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

func TestPositionsAreInTheOrderOfEvents(t *testing.T) {
	list := []Position{{1, 0}, {1, 5}, EndOf(1), {2, 0}, {2, 1}, EndOf(2)}
	for i, a := range list {
		for j, b := range list {
			if got, want := a.Compare(b) < 0, i < j; got != want {
				t.Errorf("%s before %s: %v, want %v", a, b, got, want)
			}
		}
	}
}

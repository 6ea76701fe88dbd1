package contract

import (
	"math/big"
	"strings"
	"testing"

	"tonscribe/test/support/costtest"
)

func TestAnIndexIsReadUpTo256BitsHoweverLongItsText(t *testing.T) {
	largest := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	all := Number{}
	for i := range all {
		all[i] = 0xff
	}
	for name, c := range map[string]struct {
		text string
		want Number
		ok   bool
	}{
		"zero":                    {"0", Number{}, true},
		"one":                     {"1", Number{31: 1}, true},
		"the largest":             {largest.String(), all, true},
		"zeros before it":         {strings.Repeat("0", 1<<20) + largest.String(), all, true},
		"nothing but zeros":       {strings.Repeat("0", 1<<20), Number{}, true},
		"one more than it":        {new(big.Int).Add(largest, big.NewInt(1)).String(), Number{}, false},
		"a million of digits":     {strings.Repeat("9", 1<<20), Number{}, false},
		"a sign":                  {"-1", Number{}, false},
		"no digits":               {"", Number{}, false},
		"digits that others read": {"1_0", Number{}, false},
	} {
		costtest.Check(t, func() {
			if got, ok := ParseNumber(c.text); got != c.want || ok != c.ok {
				t.Errorf("%s is %x (%t), want %x (%t)", name, got, ok, c.want, c.ok)
			}
		})
	}
}

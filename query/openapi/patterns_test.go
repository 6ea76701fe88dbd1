package openapi

import (
	"math/big"
	"regexp"
	"testing"
)

func TestPatternsOfIntegersHoldTheBoundsOfTheirTypes(t *testing.T) {
	for name, c := range map[string]struct {
		pattern     string
		least, most string
	}{
		"uint64": {Uint64Text, "0", "18446744073709551615"},
		"int64":  {Int64Text, "-9223372036854775808", "9223372036854775807"},
		"int32":  {Int32Text, "-2147483648", "2147483647"},
	} {
		pattern := regexp.MustCompile(c.pattern)
		least, _ := new(big.Int).SetString(c.least, 10)
		most, _ := new(big.Int).SetString(c.most, 10)
		check := func(n *big.Int) {
			want := n.Cmp(least) >= 0 && n.Cmp(most) <= 0
			if got := pattern.MatchString(n.String()); got != want {
				t.Errorf("%s: %s: %t, want %t", name, n, got, want)
			}
		}
		for _, end := range []*big.Int{least, most, new(big.Int)} {
			for step := int64(-300); step <= 300; step++ {
				check(new(big.Int).Add(end, big.NewInt(step)))
			}
			for power := int64(1); power < 1e18; power *= 10 {
				check(new(big.Int).Add(end, big.NewInt(power)))
				check(new(big.Int).Sub(end, big.NewInt(power)))
			}
		}
		for _, text := range []string{"", "-", "+", "1.5", "1e3", "0x10", " 1", "١"} {
			if pattern.MatchString(text) {
				t.Errorf("%s: %q is none", name, text)
			}
		}
		if !pattern.MatchString("0007") {
			t.Errorf("%s: 0007 is one", name)
		}
	}
}

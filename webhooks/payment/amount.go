package payment

import (
	"fmt"
	"math/big"
	"strings"
)

// MaxDecimals is the most that a jetton may have.
const MaxDecimals = 77

// Text is an amount of base units in units of the asset: exact, without zeros at its end.
func Text(raw *big.Int, decimals int) string {
	digits := raw.String()
	if missing := decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, part := digits[:len(digits)-decimals], strings.TrimRight(digits[len(digits)-decimals:], "0")
	if part == "" {
		return whole
	}
	return whole + "." + part
}

// ParseText reads an amount in units of the asset, such as 10.5. What base units cannot
// say is an error.
func ParseText(text string, decimals int) (*big.Int, error) {
	whole, part, _ := strings.Cut(text, ".")
	part = strings.TrimRight(part, "0")
	digits := whole + part
	switch {
	case whole == "" || len(digits) > MaxDecimals || strings.Trim(digits, "0123456789") != "" || strings.HasSuffix(text, "."):
		return nil, fmt.Errorf("%w: the amount %.100q is not a number such as 10.5", ErrOrder, text)
	case len(part) > decimals:
		return nil, fmt.Errorf("%w: the amount %s has more than %d decimals", ErrOrder, text, decimals)
	}
	raw, _ := new(big.Int).SetString(digits+strings.Repeat("0", decimals-len(part)), 10)
	return raw, nil
}

package payment

import (
	"math/big"
	"strings"
)

// NativeDecimals is how many decimals the native coin has.
const NativeDecimals = 9

// MaxAmount is the largest amount of a message in base units, VarUInteger 16.
var MaxAmount = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 120), big.NewInt(1))

// Text is an amount of base units in units of the asset: exact, without zeros at its end.
func Text(raw *big.Int, decimals uint8) string {
	digits := raw.String()
	if missing := int(decimals) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	at := len(digits) - int(decimals)
	if part := strings.TrimRight(digits[at:], "0"); part != "" {
		return digits[:at] + "." + part
	}
	return digits[:at]
}

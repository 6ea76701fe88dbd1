package api

import (
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"tonscribe/webhooks/payment"
)

// amount is a decimal as it was written: digits · 10^exponent.
type amount struct {
	digits   string // without leading zeros
	exponent int
}

// amountForm is how amounts are written, as numbers or as texts: programs write small
// numbers with an exponent.
var amountForm = regexp.MustCompile(`^[0-9]{1,80}(?:\.[0-9]{1,80})?(?:[eE][+-]?[0-9]{1,3})?$`)

// readAmount reads a positive decimal. It is never a float: what was written counts.
func readAmount(text string) (any, bool) {
	if !amountForm.MatchString(text) {
		return nil, false
	}
	exponent := 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		exponent, _ = strconv.Atoi(text[at+1:]) // the form has at most three digits
		text = text[:at]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	return amount{digits, exponent - len(fraction)}, digits != ""
}

var (
	errTooFine = errors.New("the amount has more decimals than the asset")
	errTooHigh = errors.New("the amount is too large")
)

// base is the amount in base units of an asset.
func (a amount) base(decimals uint8) (*big.Int, error) {
	digits, shift := a.digits, a.exponent+int(decimals)
	if shift < 0 {
		kept := max(len(digits)+shift, 0)
		if strings.Trim(digits[kept:], "0") != "" {
			return nil, errTooFine
		}
		digits, shift = digits[:kept], 0
	}
	if len(digits)+shift > len(payment.MaxAmount.String()) {
		return nil, errTooHigh
	}
	n, ok := new(big.Int).SetString(digits+strings.Repeat("0", shift), 10)
	if !ok || n.Cmp(payment.MaxAmount) > 0 {
		return nil, errTooHigh
	}
	return n, nil
}

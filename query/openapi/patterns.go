package openapi

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Patterns of integers as decimal texts, with the bounds of their type.
var (
	Uint64Text = `^0*(?:` + upTo(math.MaxUint64) + `)$`
	Int64Text  = signed(math.MaxInt64, 1<<63)
	Int32Text  = signed(math.MaxInt32, 1<<31)
)

func signed(most, least uint64) string {
	return `^(?:\+?0*(?:` + upTo(most) + `)|-0*(?:` + upTo(least) + `))$`
}

// Negative is the pattern, without anchors, of a minus sign and a number whose
// magnitude is at most n.
func Negative(n uint64) string { return `-0*(?:` + upTo(n) + `)` }

// upTo is the pattern, without anchors, of the decimals from 0 to n without
// leading zeros. The empty text is 0, too, where zeros lead; at least one digit
// is for whoever uses it to ask.
func upTo(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	list := []string{fmt.Sprintf(`[0-9]{1,%d}`, len(digits)-1)}
	for i, digit := range digits {
		lower := digit - 1
		if lower < '0' || i == 0 && lower < '1' {
			continue
		}
		first := '0'
		if i == 0 {
			first = '1'
		}
		rest := ""
		if left := len(digits) - i - 1; left > 0 {
			rest = fmt.Sprintf(`[0-9]{%d}`, left)
		}
		list = append(list, fmt.Sprintf(`%s[%c-%c]%s`, digits[:i], first, lower, rest))
	}
	return strings.Join(append(list, digits), "|")
}

// EmptyOr lets a pattern's text be empty too.
func EmptyOr(pattern string) string { return `^$|` + pattern }

package bench

import (
	"fmt"
	"regexp"
)

// reference is what the reference index server, on PostgreSQL 15 and two cores
// with everything in memory, answers in when its tables hold 2,000,017
// transactions of the same proportions: p50 and p99 in milliseconds with one
// client, the better of two runs. Deep is an offset of 100,000 transactions,
// 80,000 wallets or 10,000 accounts.
var reference = map[string][2]float64{
	"tx acct popular l10 o0":              {1.34, 5.94},
	"tx acct popular l1000 o0":            {128, 189},
	"tx acct popular l10 deep":            {190, 232},
	"tx acct popular l1000 deep":          {399, 488},
	"tx acct ordinary l10 o0":             {3.61, 8.38},
	"tx acct ordinary l1000 o0":           {7.93, 46.0},
	"tx hash":                             {2.21, 7.74},
	"tx by msg_hash":                      {3.20, 10.5},
	"tx mc_seqno":                         {6.04, 16.4},
	"tx latest 20":                        {2.84, 8.29},
	"messages source popular l20":         {1.75, 6.13},
	"messages source ordinary l20":        {3.27, 8.29},
	"adjacentTransactions":                {3.37, 6.56},
	"blocks mc_seqno":                     {0.24, 0.88},
	"blocks latest 20":                    {0.51, 1.92},
	"traces tx_hash":                      {5.01, 11.4},
	"traces account popular l10":          {23.0, 34.8},
	"traces account ordinary l10":         {14.8, 30.6},
	"actions account popular l20":         {18.7, 24.3},
	"actions account ordinary l20":        {6.33, 9.97},
	"jetton/wallets big sorted l100 o0":   {9.49, 15.6},
	"jetton/wallets big sorted l100 deep": {154, 214},
	"jetton/wallets small sorted l100":    {12.4, 17.3},
	"jetton/transfers owner popular l20":  {2.81, 6.54},
	"jetton/transfers owner ordinary l20": {2.20, 6.78},
	"accountStates 1":                     {1.50, 2.91},
	"accountStates 100":                   {11.7, 17.4},
	"topAccountsByBalance l100 o0":        {0.37, 1.54},
	"topAccountsByBalance l100 deep":      {2.79, 3.64},
}

var deepOffset = regexp.MustCompile(`o[1-9][0-9]*$`)

// referenceOf is the cell beside a line.
func referenceOf(name string) string {
	r, ok := reference[deepOffset.ReplaceAllString(name, "deep")]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s, %s", number(r[0]), number(r[1]))
}

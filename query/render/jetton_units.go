package render

import (
	"math"
	"strconv"

	"tonscribe/schema/record"
)

// Jetton is what the content of a jetton says of its units.
type Jetton struct {
	Symbol   string // empty where it says nothing
	Decimals int    // 9 where it says nothing (TEP-64)
	// Waits reports whether its document, which may tell other decimals, was not fetched yet.
	Waits bool
	// Assumed reports whether the document cannot be had: it may have told other decimals.
	Assumed bool
}

const (
	defaultDecimals = 9
	maxDecimals     = 77 // what 256 bits hold
)

// JettonOf reads the content of a jetton master.
func JettonOf(c *record.Contract, documents map[string]Document) Jetton {
	content := c.GetJettonMaster().GetContent()
	link := LinkOf(content)
	document, fetched := documents[link]
	members := membersOf(content, document)
	j := Jetton{Decimals: defaultDecimals}
	if link != "" && len(members["decimals"]) == 0 {
		j.Waits, j.Assumed = !fetched, fetched && !document.Valid
	}
	j.Symbol, _ = textOf(members["symbol"])
	text, _ := textOf(members["decimals"])
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n <= maxDecimals && n == math.Trunc(n) { // 6.0 is 6
		j.Decimals = int(n)
	}
	return j
}

// Package render declares how records look in answers of the v3 API: a shape for
// each, with its members in the order of the contract.
//
// The package is pure: it asks nobody for anything and keeps nothing. What a record
// does not say by itself comes with it in a row (MessageRow, ItemRow …), or is a
// part that a request asks for.
package render

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/schema/record"
	"tonscribe/ton/token"
)

// The parts that requests ask for.
const (
	Delivery           api.Part = 1 << iota // how a transfer ended on the receiving side
	StateBoCs                               // code and data of account states
	ActionAccounts                          // of actions
	ActionTransactions                      // of actions, whole
	TraceActions                            // of traces
	TraceOrigins                            // of transactions, the message that began their trace
)

// Names that the getters of members are of.
type (
	block    = *record.Block
	contract = *record.Contract
)

// currencies is currency id → amount, ids in the order of their text.
func currencies[R any](name string, get func(R) []*record.ExtraCurrency) api.Member[R] {
	return api.Written(name, mapOf("Decimal"), func(w *api.Writer, row R) bool {
		w.JSON = appendCurrencies(w.JSON, get(row))
		return true
	})
}

// mapOf is the schema of an object whose values have a form, any text without one.
func mapOf(form string) func(*openapi.Components) openapi.Object {
	return func(c *openapi.Components) openapi.Object {
		values := openapi.Schema("type", "string")
		if form != "" {
			values = c.Form(form)
		}
		return openapi.Schema("type", "object", "additionalProperties", values)
	}
}

func appendCurrencies(dst []byte, list []*record.ExtraCurrency) []byte {
	if len(list) > 1 {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b *record.ExtraCurrency) int {
			return compareText(uint64(a.Id), uint64(b.Id))
		})
	}
	dst = append(dst, '{')
	for i, c := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = api.AppendDecimal(dst, uint64(c.Id))
		dst = append(dst, `:"`...)
		dst = new(big.Int).SetBytes(c.Amount).Append(dst, 10)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

func compareText(a, b uint64) int {
	var x, y [20]byte
	return slices.Compare(strconv.AppendUint(x[:0], a, 10), strconv.AppendUint(y[:0], b, 10))
}

// content is token content (TEP-64) as a map of texts, of which answers show those
// of token.Names, null when there is none. The domain of an item, when it has one,
// is added to it.
func content[R any](name string, get func(R) (content *record.TokenContent, domain string)) api.Member[R] {
	return api.Written(name, mapOf(""), func(w *api.Writer, row R) bool {
		content, domain := get(row)
		if content == nil && domain == "" {
			return false
		}
		var list []*record.TokenAttribute
		for _, a := range content.GetAttributes() {
			if slices.Contains(token.Names, a.Name) {
				list = append(list, a)
			}
		}
		if domain != "" {
			list = append(list, &record.TokenAttribute{Name: "domain", Value: domain})
		}
		slices.SortFunc(list, func(a, b *record.TokenAttribute) int { return strings.Compare(a.Name, b.Name) })
		w.JSON = append(w.JSON, '{')
		for i, a := range list {
			if i > 0 {
				w.JSON = append(w.JSON, ',')
			}
			w.JSON = api.AppendText(append(api.AppendText(w.JSON, a.Name), ':'), a.Value)
		}
		w.JSON = append(w.JSON, '}')
		return true
	}).Null()
}

// sorted are addresses in the order of their texts.
func sorted(list [][]byte) [][]byte {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b []byte) int { return bytes.Compare(api.AppendAddress(nil, a), api.AppendAddress(nil, b)) })
	return list
}

package v2

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
	"tonscribe/ton/address"
)

// The forms that answers of several methods have.

// text is a member that anybody may have written: what is no UTF-8 is replaced;
// <, > and & stay as they are.
func text[R any](name string, get func(R) string) api.Member[R] {
	return api.Written(name, api.String.Schema, func(w *api.Writer, row R) bool {
		w.JSON = appendText(w.JSON, get(row))
		return true
	})
}

func appendText(dst []byte, s string) []byte {
	simple := true
	for i := 0; i < len(s) && simple; i++ {
		simple = s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\'
	}
	if simple {
		return append(append(append(dst, '"'), s...), '"')
	}
	var out bytes.Buffer
	writer := json.NewEncoder(&out)
	writer.SetEscapeHTML(false)
	_ = writer.Encode(s) // a string always has a form
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte{'\n'})...)
}

// dictionary is a member that is an object of values by their names, in their order.
func dictionary[R, V any](name string, values api.Form[V], get func(R) map[string]V) api.Member[R] {
	return api.Written(name, func(c *openapi.Components) openapi.Object {
		return openapi.Schema("type", "object", "additionalProperties", values.Schema(c))
	}, func(w *api.Writer, row R) bool {
		all := get(row)
		w.JSON = append(w.JSON, '{')
		for i, key := range slices.Sorted(maps.Keys(all)) {
			if i > 0 {
				w.JSON = append(w.JSON, ',')
			}
			w.JSON = append(appendText(w.JSON, key), ':')
			values.Write(w, all[key])
		}
		w.JSON = append(w.JSON, '}')
		return true
	})
}

// plainText is a text of anybody's that is a value by itself.
type plainText struct{ api.Form[string] }

// Write implements api.Form.
func (plainText) Write(w *api.Writer, s string) { w.JSON = appendText(w.JSON, s) }

// blockID is a block, the one shape whose @type has a namespace.
var blockID = api.Typed("BlockID", "{ns}.blockIdExt",
	api.Int32("workchain", func(b *ton.BlockIDExt) int32 { return b.Workchain }),
	api.SignedDecimal("shard", func(b *ton.BlockIDExt) int64 { return b.Shard }),
	api.Int32("seqno", func(b *ton.BlockIDExt) int32 { return int32(b.SeqNo) }),
	api.Hash("root_hash", func(b *ton.BlockIDExt) []byte { return b.RootHash }),
	api.Hash("file_hash", func(b *ton.BlockIDExt) []byte { return b.FileHash }),
)

// transactionID is where a transaction is.
var transactionID = api.Typed("TransactionID", "internal.transactionId",
	api.Decimal("lt", func(id *node.TransactionID) uint64 { return id.LT }),
	api.Hash("hash", func(id *node.TransactionID) []byte { return id.Hash[:] }),
)

var extraCurrency = api.Typed("ExtraCurrency", "extraCurrency",
	api.Int32("id", func(c node.Currency) int32 { return c.ID }),
	api.BigDecimal("amount", func(c node.Currency) *big.Int { return c.Amount }),
)

func currencies[R any](get func(R) []node.Currency) api.Member[R] {
	return api.List("extra_currencies", extraCurrency, get, api.Same[node.Currency])
}

// accountAddress is an account, empty for none.
var accountAddress = api.Typed("AccountAddress", "accountAddress", api.Text("account_address", bounceable))

// bounceable is how answers name other accounts than the one that was asked for.
func bounceable(a *address.Address) string {
	if a == nil {
		return ""
	}
	return string(address.AppendFriendly(nil, a[:], address.Form{}, base64.URLEncoding))
}

// accountWords are those of an account's status.
var accountWords = api.Words{node.Active, node.Uninitialized, node.Frozen}

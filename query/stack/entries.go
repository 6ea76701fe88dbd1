package stack

import (
	"encoding/base64"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
)

// Entries is the form of typed entries (contract 2.0); tuples and lists are the forms
// of those of them that hold others.
var Entries, tuples, lists = newEntries()

func newEntries() (entries *api.Union[node.Entry], tuples, lists *api.Shape[node.Entry]) {
	entries = api.OneOf[node.Entry]("StackEntry")
	elements := api.List("elements", entries, func(e node.Entry) []node.Entry { return e.Elements }, api.Same[node.Entry])
	tuples, lists = api.Typed("TvmTuple", "tvm.tuple", elements), api.Typed("TvmList", "tvm.list", elements)
	of := func(kind node.EntryKind, name string, members ...api.Member[node.Entry]) {
		entries.Add(api.When(api.Typed("Entry"+name, "tvm.stackEntry"+name, members...), func(e node.Entry) (node.Entry, bool) { return e, e.Kind == kind }))
	}
	entryCell := api.Cell("bytes", func(e node.Entry) *cell.Cell { return e.Cell })
	part := func(name string, shape *api.Shape[node.Entry]) api.Member[node.Entry] {
		return api.Object(name, shape, api.Same[node.Entry], nil)
	}
	of(node.NumberEntry, "Number", part("number", api.Typed("NumberDecimal", "tvm.numberDecimal",
		api.BigDecimal("number", func(e node.Entry) *big.Int { return e.Number }))))
	of(node.CellEntry, "Cell", api.Object("cell", Cells, func(e node.Entry) *cell.Cell { return e.Cell }, nil))
	of(node.SliceEntry, "Slice", part("slice", api.Typed("TvmSlice", "tvm.slice", entryCell)))
	of(node.TupleEntry, "Tuple", part("tuple", tuples))
	of(node.ListEntry, "List", part("list", lists))
	of(node.UnsupportedEntry, "Unsupported")
	return entries, tuples, lists
}

// Cells is the form of a cell in v2.
var Cells = api.Typed("TvmCell", "tvm.cell", api.Cell("bytes", api.Same[*cell.Cell]))

// Pair is an entry as [label, value]; a cell is spelt out, unless it is too large for
// that.
type Pair struct {
	node.Entry
	tree *cellTree
}

// PairsOf are the entries of a stack as pairs.
func PairsOf(stack []node.Entry) []Pair {
	pairs, left := make([]Pair, 0, len(stack)), maxTreeCells
	for _, e := range stack {
		p := Pair{Entry: e}
		if e.Cell != nil {
			p.tree = treeOf(e.Cell, &left)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// The words for entries, by their kind: the labels of pairs, and the types of plain
// entries.
var (
	labels = map[node.EntryKind]int{
		node.NumberEntry: 0, node.CellEntry: 1, node.SliceEntry: 1, node.TupleEntry: 2, node.ListEntry: 3, node.UnsupportedEntry: 4,
	}
	plainTypes = map[node.EntryKind]string{
		node.NumberEntry: "num", node.CellEntry: "cell", node.SliceEntry: "slice", node.TupleEntry: "tuple", node.ListEntry: "list",
		node.UnsupportedEntry: "unsupported",
	}
)

// pairForms are the labels of pairs, and the forms of the values that go with them.
var pairForms = []struct {
	label string
	value api.Form[Pair]
}{
	{"num", api.Via(api.String, func(p Pair) string { return hexNumber(p.Number) })},
	{"cell", api.New("LegacyCellValue",
		api.Cell("bytes", func(p Pair) *cell.Cell { return p.Cell }),
		api.PartOf("object", cellTrees, func(p Pair) *cellTree { return p.tree }).Optional(),
	)},
	{"tuple", api.Via(tuples, func(p Pair) node.Entry { return p.Entry })},
	{"list", api.Via(lists, func(p Pair) node.Entry { return p.Entry })},
	{"unsupported", api.Via(api.String, func(Pair) string { return "" })},
}

// PairForm is the form of a pair.
var PairForm api.Form[Pair] = pairForm{}

type pairForm struct{}

// Write implements api.Form.
func (pairForm) Write(w *api.Writer, p Pair) {
	f := &pairForms[labels[p.Kind]]
	w.JSON = append(append(append(w.JSON, `["`...), f.label...), `",`...)
	f.value.Write(w, p)
	w.JSON = append(w.JSON, ']')
}

// Schema implements openapi.Described.
func (f pairForm) Schema(c *openapi.Components) openapi.Object {
	return c.Component(f, "LegacyPair", func() openapi.Object {
		list := []openapi.Object{}
		for _, p := range pairForms {
			list = append(list, openapi.Schema("prefixItems", []openapi.Object{openapi.Schema("const", p.label), p.value.Schema(c)}))
		}
		return openapi.Schema("type", "array", "minItems", 2, "maxItems", 2, "oneOf", list)
	})
}

// hexNumber writes 0x1f and -0x1f.
func hexNumber(n *big.Int) string {
	if n.Sign() < 0 {
		return "-0x" + new(big.Int).Neg(n).Text(16)
	}
	return "0x" + n.Text(16)
}

// PlainEntries is the form of plain entries; tuples and lists hold entries, all others
// a text.
var PlainEntries = newPlainEntries()

func newPlainEntries() *api.Shape[node.Entry] {
	value := api.OneOf("PlainValue", api.When(api.String, func(e node.Entry) (string, bool) {
		switch e.Kind {
		case node.NumberEntry:
			return hexNumber(e.Number), true
		case node.CellEntry, node.SliceEntry:
			return base64.StdEncoding.EncodeToString(e.Cell.ToBOCWithOptions(cell.BOCSerializeOptions{WithCRC32C: true})), true
		}
		return "", e.Kind == node.UnsupportedEntry
	}))
	entry := api.New("PlainEntry",
		api.Word("type", api.Words{"num", "cell", "slice", "tuple", "list", "unsupported"}, func(e node.Entry) string { return plainTypes[e.Kind] }),
		api.Object("value", value, api.Same[node.Entry], nil),
	)
	value.Add(api.When(api.Rows[node.Entry]{Of: entry}, func(e node.Entry) ([]node.Entry, bool) { return e.Elements, true }))
	return entry
}

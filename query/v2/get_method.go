package v2

import (
	"encoding/json"
	"math/big"
	"strconv"
	"time"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
	"tonscribe/ton/code"
)

// The depths of a result (contract 2.32).
const (
	maxLegacyDepth = 100
	MaxTypedDepth  = 256
)

func runParams(stack Kind, description string) []Param {
	return []Param{
		addressParam("contract, in any form"),
		{Name: "method", Kind: MethodKind, Required: true, Description: "name of the get-method, or its number"},
		{Name: "stack", Kind: stack, Required: true, Bad: "Stack should be array", Description: description},
		seqnoParam,
	}
}

var runErrors = []Error{
	{Status: statusDepth, Text: "Result stack depth >= <limit>"},
	*Known(node.TooLarge(maxContractBytes)),
	*errUnsupported,
	{Status: statusNoServer, Text: "Unsupported stack entry type: <label>"},
}

func runMembers[R any](of func(R) *node.Ran, stack api.Member[R]) []api.Member[R] {
	return []api.Member[R]{
		api.Int64("gas_used", func(row R) int64 { return of(row).GasUsed }),
		stack,
		api.Int64("exit_code", func(row R) int64 { return int64(of(row).ExitCode) }),
	}
}

// legacyRun is what a get-method left, and its cells spelt out.
type legacyRun struct {
	*node.Ran
	pairs []pair
}

var runResult = api.Typed("RunResult", "smc.runResult", append(
	runMembers(func(r legacyRun) *node.Ran { return r.Ran }, api.List("stack", legacyPair, func(r legacyRun) []pair { return r.pairs }, api.Same[pair])),
	api.PartOf("block_id", blockID, func(r legacyRun) *ton.BlockIDExt { return r.Account.Master }),
	api.PartOf("last_transaction_id", transactionID, func(r legacyRun) *node.TransactionID { return &r.Account.Last }),
)...)

var runGetMethod = &Method{
	Name: "runGetMethod", Tag: tagRunMethod, Summary: "Run a get-method", PostOnly: true,
	Description: "Runs a get-method here, on the proven state of the account. Every exit code is a success of the request.",
	Params:      runParams(StackKind, "arguments as [label, value], the first at the bottom"),
	Cache:       time.Second, Parallel: 32, MaxBytes: maxContractBytes,
	Errors: runErrors,
	Result: of(runResult, func(c *call) (legacyRun, error) {
		ran, err := c.run(legacyArguments, maxLegacyDepth)
		if err != nil {
			return legacyRun{}, err
		}
		return legacyRun{ran, pairsOf(ran.Stack)}, nil
	}),
}

var runGetMethodStd = &Method{
	Name: "runGetMethodStd", Tag: tagRunMethod, Summary: "Run a get-method, standardized", PostOnly: true,
	Description: "Like runGetMethod, with typed entries on the stack.",
	Params:      runParams(StackStdKind, "arguments as typed entries, the first at the bottom"),
	Cache:       time.Second, Parallel: 32, MaxBytes: maxContractBytes,
	Errors: runErrors[:3],
	Result: of(api.Typed("RunResultStd", "smc.runResult", runMembers(api.Same[*node.Ran],
		api.List("stack", entries.any, func(r *node.Ran) []node.Entry { return r.Stack }, api.Same[node.Entry]))...),
		func(c *call) (*node.Ran, error) { return c.run(typedArguments, MaxTypedDepth) }),
}

// run runs the get-method of a request.
func (c *call) run(read func(json.RawMessage) ([]any, error), maxDepth int) (*node.Ran, error) {
	arguments, err := read(c.of("stack").json)
	if err != nil {
		return nil, err
	}
	method, err := methodID(c.of("method").json)
	if err != nil {
		return nil, err
	}
	return c.RunGetMethod(c, node.Run{
		Account: c.address("address").Address, Seqno: c.optionalSeqno("seqno"), Method: method, Stack: arguments, MaxDepth: maxDepth,
	})
}

// methodID reads a name, a number, or a number in a string.
func methodID(raw json.RawMessage) (int64, error) {
	text := plain(raw)
	if raw[0] != '"' || text == "" {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || !fitsInt32(n) {
			return 0, unprocessable("failed to parse method")
		}
	}
	return MethodID(text), nil
}

// MethodID is the number of a get-method by its name, or by its number as text.
func MethodID(text string) int64 {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && fitsInt32(n) {
		return n
	}
	return int64(code.MethodID(text))
}

// entries are the typed entries of a stack (contract 2.0), and those of them that
// hold others.
var entries = newEntries()

type entryForms struct {
	any         *api.Union[node.Entry]
	tuple, list *api.Shape[node.Entry]
}

func newEntries() entryForms {
	any := api.OneOf[node.Entry]("StackEntry")
	elements := api.List("elements", any, func(e node.Entry) []node.Entry { return e.Elements }, api.Same[node.Entry])
	f := entryForms{any, api.Typed("TvmTuple", "tvm.tuple", elements), api.Typed("TvmList", "tvm.list", elements)}
	of := func(kind node.EntryKind, name, typeName string, members ...api.Member[node.Entry]) {
		any.Add(api.When(api.Typed(name, typeName, members...), func(e node.Entry) (node.Entry, bool) { return e, e.Kind == kind }))
	}
	entryCell := func(e node.Entry) *cell.Cell { return e.Cell }
	of(node.NumberEntry, "EntryNumber", "tvm.stackEntryNumber", api.Object("number",
		api.Typed("NumberDecimal", "tvm.numberDecimal", api.BigDecimal("number", func(e node.Entry) *big.Int { return e.Number })), api.Same[node.Entry], nil))
	of(node.CellEntry, "EntryCell", "tvm.stackEntryCell", api.Object("cell", tvmCell, entryCell, nil))
	of(node.SliceEntry, "EntrySlice", "tvm.stackEntrySlice", api.Object("slice",
		api.Typed("TvmSlice", "tvm.slice", api.Cell("bytes", entryCell)), api.Same[node.Entry], nil))
	of(node.TupleEntry, "EntryTuple", "tvm.stackEntryTuple", api.Object("tuple", f.tuple, api.Same[node.Entry], nil))
	of(node.ListEntry, "EntryList", "tvm.stackEntryList", api.Object("list", f.list, api.Same[node.Entry], nil))
	of(node.UnsupportedEntry, "EntryUnsupported", "tvm.stackEntryUnsupported")
	return f
}

// pair is an entry as [label, value]; the cell of one is spelt out, unless it is too
// large for that.
type pair struct {
	node.Entry
	spelt *legacyCell
}

func pairsOf(stack []node.Entry) []pair {
	pairs, left := make([]pair, 0, len(stack)), maxSpelt
	for _, e := range stack {
		p := pair{Entry: e}
		if e.Cell != nil {
			p.spelt = spell(e.Cell, &left)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// labels are the labels of pairs, and the forms of the values that go with them.
var labels = []struct {
	label string
	value api.Form[pair]
}{
	{"num", api.Via(api.String, func(p pair) string { return HexNumber(p.Number) })},
	{"cell", api.New("LegacyCellValue",
		api.Cell("bytes", func(p pair) *cell.Cell { return p.Cell }),
		api.PartOf("object", legacyCells, func(p pair) *legacyCell { return p.spelt }).Optional(),
	)},
	{"tuple", api.Via(entries.tuple, func(p pair) node.Entry { return p.Entry })},
	{"list", api.Via(entries.list, func(p pair) node.Entry { return p.Entry })},
	{"unsupported", api.Via(api.String, func(pair) string { return "" })},
}

// labelOf are the numbers of the labels.
var labelOf = map[node.EntryKind]int{
	node.NumberEntry: 0, node.CellEntry: 1, node.SliceEntry: 1, node.TupleEntry: 2, node.ListEntry: 3, node.UnsupportedEntry: 4,
}

// legacyPair is the form of a pair.
var legacyPair api.Form[pair] = pairForm{}

type pairForm struct{}

// Write implements api.Form.
func (pairForm) Write(w *api.Writer, p pair) {
	l := &labels[labelOf[p.Kind]]
	w.JSON = append(append(append(w.JSON, `["`...), l.label...), `",`...)
	l.value.Write(w, p)
	w.JSON = append(w.JSON, ']')
}

// Schema implements openapi.Described.
func (f pairForm) Schema(c *openapi.Components) openapi.Object {
	return c.Component(f, "LegacyPair", func() openapi.Object {
		list := []openapi.Object{}
		for _, l := range labels {
			list = append(list, openapi.Schema("prefixItems", []openapi.Object{openapi.Schema("const", l.label), l.value.Schema(c)}))
		}
		return openapi.Schema("type", "array", "minItems", 2, "maxItems", 2, "oneOf", list)
	})
}

// HexNumber writes 0x1f and -0x1f.
func HexNumber(n *big.Int) string {
	if n.Sign() < 0 {
		return "-0x" + new(big.Int).Neg(n).Text(16)
	}
	return "0x" + n.Text(16)
}

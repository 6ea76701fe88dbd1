package stack

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/params"
	"tonscribe/test/support/costtest"
	"tonscribe/ton/tvm"
)

const maxDepth = 100

// written are the entries of a stack in a form.
func written[R any](t *testing.T, form api.Form[R], stack tvm.Tuple, rows func([]node.Entry) []R) {
	t.Helper()
	read, err := node.EntriesOf(stack, maxDepth)
	if err != nil {
		return
	}
	w := &api.Writer{Max: 4 << 20}
	api.Rows[R]{Of: form}.Write(w, rows(read))
	if !w.Full() && !json.Valid(w.JSON) {
		t.Errorf("%v is written as %s", stack, w.JSON)
	}
}

func writeAll(t *testing.T, stack tvm.Tuple) {
	t.Helper()
	written(t, PairForm, stack, PairsOf)
	written(t, Entries, stack, api.Same[[]node.Entry])
	written(t, PlainEntries, stack, api.Same[[]node.Entry])
}

func FuzzArguments(f *testing.F) {
	for _, stack := range []string{
		`[]`, `null`, `7`, `[["num",1]]`, `[["num","-0xff"]]`, `[["cell",{"bytes":7}]]`, `[["cell",{"data":{"b64":"","len":-1},"refs":[]}]]`,
		`[["cell",{"data":{"b64":"AA==","len":8},"refs":[null]}]]`, `[["tuple",{"@type":"tvm.tuple","elements":[]}]]`, `[["list",{"@type":"tvm.list"}]]`,
		`[{"@type":"tvm.stackEntryNumber","number":{"number":"5"}}]`, `[{"@type":"tvm.stackEntryList","list":{"elements":[]}}]`,
	} {
		f.Add([]byte(stack))
	}
	legacy, typed := nested(20, 100)
	f.Add([]byte(legacy))
	f.Add([]byte(typed))
	boc := base64.StdEncoding.EncodeToString(contracts.OnchainContent(map[string]string{"name": "a", "symbol": "b"}).ToBOC())
	f.Add([]byte(`[["cell",{"bytes":"` + boc + `","object":{}}],["tvm.Slice","` + boc + `"],["int",-5]]`))
	f.Add([]byte(`[["slice",{"data":{"b64":"gA==","len":1},"refs":[{"data":{"len":0}},{"refs":null,"data":{"b64":null,"len":0}}]}]]`))
	f.Add([]byte(`{"data":{"b64":"gA==","len":1},"refs":[{"data":{"len":0}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		for _, read := range []func(json.RawMessage) ([]any, error){Pairs, Typed} {
			costtest.Check(t, func() {
				arguments, err := read(raw)
				var refusal *params.Error
				var ofNode *node.Error
				switch {
				case err == nil:
					writeAll(t, arguments)
				case !errors.As(err, &refusal) && !errors.As(err, &ofNode):
					t.Errorf("%q: %v", raw, err)
				}
			})
		}
		costtest.Check(t, func() {
			if c, err := ParseCell(raw); err == nil && c.Depth() > node.MaxDepth {
				t.Errorf("a cell of depth %d is read", c.Depth())
			}
		})
	})
}

func FuzzEntries(f *testing.F) {
	stack, err := tvm.EncodeStack(tvm.Tuple{big.NewInt(5), nil, tvm.Tuple{tvm.Tuple{}, cell.BeginCell().EndCell()}, tvm.NaN{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stack.ToBOC())
	f.Add(costtest.SharedDictionary(256, 40, cell.BeginCell()).ToBOC())
	f.Add(contracts.OffchainContent("https://example.org/" + strings.Repeat("x", 300)).ToBOC())
	f.Fuzz(func(t *testing.T, boc []byte) {
		root, err := node.ParseBoC(boc, "body")
		if err != nil {
			return
		}
		row := make(tvm.Tuple, 200)
		for i := range row {
			row[i] = root
		}
		costtest.Check(t, func() { writeAll(t, tvm.Tuple{row, row, row}) })
		costtest.Check(t, func() {
			if stack, err := tvm.DecodeStack(root); err == nil {
				writeAll(t, stack)
			}
		})
	})
}

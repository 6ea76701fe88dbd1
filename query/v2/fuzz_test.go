package v2

import (
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/test/support/costtest"
	"tonscribe/ton/tvm"
)

func FuzzJSONRPC(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"getAddressBalance","params":{"address":"` + someAddress + `"}}`,
		`{"id":"a","method":"getConfigParam","params":{"config_id":15,"seqno":null,"@extra":"e"}}`,
		`{"id":null,"method":"getLibraries","params":{"libraries":["` + someHash + `"]}}`,
		`{"method":"lookupBlock","params":{"workchain":-1,"shard":"-9223372036854775808","lt":"5"}}`,
		`{"method":"estimateFee","params":{"address":"` + someAddress + `","body":"te6cckEBAQEAAgAAAEysuc0=","ignore_chksig":1}}`,
		`{"method":"runGetMethod","params":{"address":"` + someAddress + `","method":85143,"stack":[["num","0x1"]]}}`,
		`{"method":"sendCellSimple","params":{"cell":{"data":{"b64":"AA==","len":8},"refs":[]}}}`,
		`{"method":"packAddress","params":[]}`, `[]`, `null`, strings.Repeat(`{"params":`, 100),
	} {
		f.Add([]byte(body))
	}
	gin.SetMode(gin.ReleaseMode)
	api := newAPI(f, nil, DefaultConfiguration())
	router := gin.New()
	api.Mount(router)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{"/jsonRPC", "/runGetMethod", "/getConfigParam"} {
			costtest.Check(t, func() {
				recorder := httptest.NewRecorder()
				router.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, Prefix+path, strings.NewReader(string(body))))
				if !json.Valid(recorder.Body.Bytes()) {
					t.Errorf("%s answers %d %q", path, recorder.Code, recorder.Body.String())
				}
			})
		}
	})
}

func FuzzQuery(f *testing.F) {
	for i, query := range []string{
		"address=" + someAddress, "address=" + rawZero + "&seqno=5", "hash=" + someHash, "workchain=-1&shard=8000000000000000&seqno=1&count=3&after_hash=" + someHash,
		"libraries=" + someHash + "&libraries=" + someHash, "name=a.ton&ttl=8&category=", "archival=yes&lt=18446744073709551615&limit=-1", "%zz=%&+=++&@extra=%41",
	} {
		f.Add(uint8(i), query)
		f.Add(uint8(len(methods)-i), query)
	}
	f.Fuzz(func(t *testing.T, number uint8, query string) {
		m := methods[int(number)%len(methods)]
		costtest.Check(t, func() {
			if v, err := fromQuery(m, query); err == nil {
				_ = v.key(m)
			} else if Known(err) == nil {
				t.Errorf("%s?%s: %v", m.Name, query, err)
			}
		})
	})
}

func FuzzArguments(f *testing.F) {
	for _, stack := range stacks {
		f.Add([]byte(stack))
	}
	legacy, typed := nested(20, 100)
	f.Add([]byte(legacy))
	f.Add([]byte(typed))
	boc := text64(contracts.OnchainContent(map[string]string{"name": "a", "symbol": "b"}).ToBOC())
	f.Add([]byte(`[["cell",{"bytes":"` + boc + `","object":{}}],["tvm.Slice","` + boc + `"],["int",-5]]`))
	f.Add([]byte(`[["slice",{"data":{"b64":"gA==","len":1},"refs":[{"data":{"len":0}},{"refs":null,"data":{"b64":null,"len":0}}]}]]`))
	f.Add([]byte(`{"data":{"b64":"gA==","len":1},"refs":[{"data":{"len":0}}]}`))
	read := []struct {
		arguments func(json.RawMessage) ([]any, error)
		result    func(tvm.Tuple) ([]byte, error)
	}{{legacyArguments, legacyStack}, {typedArguments, typedStack}}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, r := range read {
			costtest.Check(t, func() {
				object, err := parseObject(slices.Concat([]byte(`{"stack":`), raw, []byte{'}'}))
				if err != nil || len(object["stack"]) == 0 {
					return
				}
				arguments, err := r.arguments(object["stack"])
				if err != nil {
					if Known(err) == nil {
						t.Errorf("%q: %v", raw, err)
					}
					return
				}
				if _, err := tvm.EncodeStack(arguments); err != nil {
					t.Logf("%q: %v", raw, err)
				}
				if body, err := r.result(arguments); err == nil && !json.Valid(body) {
					t.Errorf("%q comes back as %s", raw, body)
				}
			})
		}
		costtest.Check(t, func() {
			object, err := parseObject(slices.Concat([]byte(`{"cell":`), raw, []byte{'}'}))
			if err != nil || len(object["cell"]) == 0 {
				return
			}
			if c, err := parseSpelt(object["cell"]); err == nil && c.Depth() > node.MaxDepth {
				t.Errorf("a cell of depth %d is read", c.Depth())
			}
		})
	})
}

// written is a value in its form, an error when it is too long.
func written[R any](form api.Form[R], row R) ([]byte, error) {
	w := &api.Writer{Namespace: "ton", Max: maxContractBytes}
	if form.Write(w, row); w.Full() {
		return nil, node.TooLarge(w.Max)
	}
	return w.JSON, nil
}

func legacyStack(stack tvm.Tuple) ([]byte, error) {
	read, err := node.EntriesOf(stack, maxLegacyDepth)
	if err != nil {
		return nil, err
	}
	return written(api.Rows[pair]{Of: legacyPair}, pairsOf(read))
}

func typedStack(stack tvm.Tuple) ([]byte, error) {
	read, err := node.EntriesOf(stack, MaxTypedDepth)
	if err != nil {
		return nil, err
	}
	return written(api.Rows[node.Entry]{Of: entries.any}, read)
}

// readers read cells of strangers, and write what they find.
var readers = map[string]func(c *cell.Cell) ([]byte, error){
	"transaction": func(c *cell.Cell) ([]byte, error) {
		t, err := node.ParseTransaction(0, c)
		if err != nil {
			return nil, err
		}
		return written(extTransaction, t)
	},
	"stack": func(c *cell.Cell) ([]byte, error) {
		stack, err := tvm.DecodeStack(c)
		if err != nil {
			return nil, err
		}
		return legacyStack(stack)
	},
	"repeated": func(c *cell.Cell) ([]byte, error) {
		row := make(tvm.Tuple, 200)
		for i := range row {
			row[i] = c
		}
		return typedStack(tvm.Tuple{row, row, row})
	},
}

func FuzzCells(f *testing.F) {
	f.Add(costtest.SharedDictionary(256, 40, cell.BeginCell()).ToBOC())
	f.Add(node.Body{Body: contracts.CommentBody("x"), Code: cell.BeginCell().EndCell()}.Message().ToBOC())
	stack, err := tvm.EncodeStack(tvm.Tuple{big.NewInt(5), nil, tvm.Tuple{tvm.Tuple{}, cell.BeginCell().EndCell()}, tvm.NaN{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stack.ToBOC())
	f.Fuzz(func(t *testing.T, boc []byte) {
		root, err := node.ParseBoC(boc, "body")
		if err != nil {
			return
		}
		for name, read := range readers {
			costtest.Check(t, func() {
				if body, err := read(root); err == nil && !json.Valid(body) {
					t.Errorf("%s: %s", name, body)
				}
			})
		}
	})
}

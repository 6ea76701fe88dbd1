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
	"tonscribe/devnet/traffic"
	"tonscribe/internal/report"
	"tonscribe/test/support/costtest"
	tondns "tonscribe/ton/dns"
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
	api, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent()})
	if err != nil {
		f.Fatal(err)
	}
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
			} else if known(err) == nil {
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
	encoder := &encoder{namespace: "ton"}
	read := []struct {
		arguments func(json.RawMessage) ([]any, error)
		result    func(tvm.Tuple) (any, error)
	}{
		{legacyArguments, func(stack tvm.Tuple) (any, error) { return legacyStack(stack) }},
		{typedArguments, func(stack tvm.Tuple) (any, error) { return typedStack(stack) }},
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, r := range read {
			costtest.Check(t, func() {
				object, err := parseObject(slices.Concat([]byte(`{"stack":`), raw, []byte{'}'}))
				if err != nil || len(object["stack"]) == 0 {
					return
				}
				arguments, err := r.arguments(object["stack"])
				if err != nil {
					if known(err) == nil {
						t.Errorf("%q: %v", raw, err)
					}
					return
				}
				if _, err := tvm.EncodeStack(arguments); err != nil {
					t.Logf("%q: %v", raw, err)
				}
				result, err := r.result(arguments)
				if err != nil {
					return
				}
				if body, err := encoder.encode(nil, result, mostContractBytes); err == nil && !json.Valid(body) {
					t.Errorf("%q comes back as %s", raw, body)
				}
			})
		}
		costtest.Check(t, func() {
			object, err := parseObject(slices.Concat([]byte(`{"cell":`), raw, []byte{'}'}))
			if err != nil || len(object["cell"]) == 0 {
				return
			}
			if c, err := parseSpelt(object["cell"]); err == nil && c.Depth() > mostDepth {
				t.Errorf("a cell of depth %d is read", c.Depth())
			}
		})
	})
}

// readers read cells of strangers.
var readers = map[string]func(c *cell.Cell) (any, error){
	"content": tokenContent,
	"message": func(c *cell.Cell) (any, error) { m, err := parseMessage(c); return resultOrNil(m, err, (*message).ext) },
	"transaction": func(c *cell.Cell) (any, error) {
		tx, err := parseTransaction(0, c)
		return resultOrNil(tx, err, (*transaction).ext)
	},
	"names": func(c *cell.Cell) (any, error) { return entriesOf(c, []byte("a\x00")) },
	"records": func(c *cell.Cell) (any, error) {
		records, err := tondns.Records(c)
		found := map[string]record{}
		for _, e := range records {
			if e.Record == nil {
				continue
			}
			if value := recordValue(e.Record); value != nil {
				found[string(e.Category[:])] = value
			}
		}
		return domainContent{Data: found}, err
	},
	"domain": func(c *cell.Cell) (any, error) { text, _ := domainText(c); return text, nil },
	"address": func(c *cell.Cell) (any, error) {
		v := &values{stack: tvm.Tuple{c}}
		return v.optionalAddress(0), nil
	},
	"stack": func(c *cell.Cell) (any, error) {
		stack, err := tvm.DecodeStack(c)
		if err != nil {
			return nil, err
		}
		return legacyStack(stack)
	},
	"repeated": func(c *cell.Cell) (any, error) {
		row := make(tvm.Tuple, 200)
		for i := range row {
			row[i] = c
		}
		return typedStack(tvm.Tuple{row, row, row})
	},
	"states": func(c *cell.Cell) (any, error) {
		var states []contractState
		for _, kind := range contractKinds {
			r := parse(c)
			if state := kind.read(r); r.Err() == nil {
				states = append(states, state)
			}
		}
		return states, nil
	},
	"currencies": func(c *cell.Cell) (any, error) {
		r := readerOf(cell.BeginCell().ToSlice())
		return r.extra(c), r.Err()
	},
}

func resultOrNil[T, R any](value T, err error, show func(T) R) (any, error) {
	if err != nil {
		return nil, err
	}
	return show(value), nil
}

func FuzzCells(f *testing.F) {
	adnl := cell.BeginCell().MustStoreRef(cell.BeginCell().MustStoreUInt(uint64(tondns.ADNL), 16).MustStoreSlice(make([]byte, 33), 264).EndCell())
	chunk := cell.BeginCell().MustStoreRef(cell.BeginCell().MustStoreSlice([]byte("x"), 8).EndCell())
	for _, c := range []*cell.Cell{
		contracts.OnchainContent(map[string]string{"name": "Coin", "symbol": "C", "decimals": "9", "image_data": "\x00\x01"}),
		contracts.OffchainContent("https://example.org/" + strings.Repeat("x", 300)), contracts.HugeContent(20_000), contracts.DeepContent(300), contracts.SharedContent(30),
		contracts.CommentBody("hello"), onchainWith(sharedDictionary(256, 40, chunk)), sharedDictionary(256, 40, adnl), sharedDictionary(256, 5, adnl), sharedDictionary(15, 15, chunk),
		sharedDictionary(32, 32, cell.BeginCell().MustStoreVarUInt(5, 32)),
		cell.BeginCell().MustStoreUInt(0, 8).MustStoreBoolBit(true).MustStoreRef(sharedDictionary(256, 0, cell.BeginCell().
			MustStoreUInt(1, 8).MustStoreBoolBit(true).MustStoreRef(sharedDictionary(32, 32, chunk)))).EndCell(),
		cell.BeginCell().MustStoreUInt(uint64(tondns.Text), 16).MustStoreUInt(2, 8).MustStoreUInt(2, 8).MustStoreUInt(0x6161, 16).
			MustStoreRef(cell.BeginCell().MustStoreUInt(1, 8).MustStoreUInt(0x62, 8).EndCell()).EndCell(),
		cell.BeginCell().MustStoreUInt(7, 32).MustStoreUInt(698983191, 32).MustStoreSlice(make([]byte, 32), 256).MustStoreBoolBit(false).EndCell(),
		externalMessage(&Address{}, contracts.CommentBody("x"), cell.BeginCell().EndCell(), nil),
	} {
		f.Add(c.ToBOC())
	}
	stack, err := tvm.EncodeStack(tvm.Tuple{big.NewInt(5), nil, tvm.Tuple{tvm.Tuple{}, cell.BeginCell().EndCell()}, tvm.NaN{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stack.ToBOC())
	for i, account := range traffic.New(7, traffic.Options{NetworkID: townID}).Accounts() {
		if i%5 == 0 && account.Data != nil {
			f.Add(account.Data.ToBOC())
		}
	}
	encoder := &encoder{namespace: "ton"}
	f.Fuzz(func(t *testing.T, boc []byte) {
		var root *cell.Cell
		costtest.Check(t, func() { root, _ = parseBag(boc, "body") })
		if root == nil {
			return
		}
		read := func(name string) {
			result, err := readers[name](root)
			if err != nil || result == nil {
				return
			}
			body, err := encoder.encode(nil, result, mostContractBytes)
			if err == nil && !json.Valid(body) {
				t.Errorf("%s: %s", name, body)
			}
		}
		if costtest.Cheap(func() {
			for name := range readers {
				read(name)
			}
		}) {
			return
		}
		for name := range readers {
			if costtest.Check(t, func() { read(name) }); t.Failed() {
				t.Fatalf("reading %s", name)
			}
		}
	})
}

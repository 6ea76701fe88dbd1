package v2

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/test/support/costtest"
	"tonscribe/test/support/litetest"
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

// written is a value in its form, an error when it is too long.
func written[R any](form api.Form[R], row R) ([]byte, error) {
	w := &api.Writer{Namespace: "ton", Max: maxContractBytes}
	if form.Write(w, row); w.Full() {
		return nil, node.TooLarge(w.Max)
	}
	return w.JSON, nil
}

func FuzzTransaction(f *testing.F) {
	f.Add(costtest.SharedDictionary(256, 40, cell.BeginCell()).ToBOC())
	for _, bundle := range litetest.NewDevnet(f, 3, 3).Bundles {
		for _, b := range bundle.Shards {
			for i := range b.Transactions {
				f.Add(b.Transactions[i].Cell.ToBOC())
			}
		}
	}
	f.Fuzz(func(t *testing.T, boc []byte) {
		root, err := node.ParseBoC(boc, "body")
		if err != nil {
			return
		}
		costtest.Check(t, func() {
			tx, err := node.ParseTransaction(0, root)
			if err != nil {
				return
			}
			if body, err := written(extTransaction, tx); err == nil && !json.Valid(body) {
				t.Errorf("%s", body)
			}
		})
	})
}

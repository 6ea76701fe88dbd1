package endpoints

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/query/node"
	"tonscribe/query/rows"
	v3 "tonscribe/query/v3"
	"tonscribe/test/support/litetest"
	"tonscribe/test/support/openapitest"
)

// legacy is the endpoints that stand for methods of the v2 layer, without an
// index.
type legacy struct {
	*testing.T
	router   *gin.Engine
	document *openapitest.Document
}

func newLegacy(t *testing.T, servers node.Servers) *legacy {
	t.Helper()
	configuration := node.DefaultConfiguration()
	configuration.Deadline = time.Minute // the machine may be busy
	asked, err := node.New(configuration, node.Dependencies{Report: report.Silent(), Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(asked.Stop)
	document, err := openapitest.New(v3.Describe(All, nil))
	if err != nil {
		t.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	l := &legacy{T: t, router: gin.New(), document: document}
	v3.New(All, rows.Reader{}, v3.Options{Timeout: time.Minute, Node: asked}, report.Silent()).Mount(l.router)
	return l
}

// onDevnet asks the lite server of a small chain.
func onDevnet(t *testing.T) *legacy {
	t.Helper()
	devnet := litetest.NewDevnet(t, 3, 3)
	c := lite.DefaultConfiguration()
	c.Config = devnet.Config(t)
	pool, err := lite.New(c, lite.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, pool)
	return newLegacy(t, pool)
}

func (l *legacy) send(method, path, body string) (status int, answer map[string]any) {
	l.Helper()
	r := httptest.NewRequest(method, v3.Prefix+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	l.router.ServeHTTP(w, r)
	err := l.document.Check(openapitest.Answer{Method: method, Path: r.URL.RequestURI(), Status: w.Code, Header: w.Header(), Text: w.Body.Bytes()})
	if err != nil {
		l.Error(err)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		l.Fatalf("%s: %v", path, err)
	}
	return w.Code, answer
}

const nobody = "0:" + "00000000000000000000000000000000000000000000000000000000000000aa"

// The tables of contract 2.8, row by row.
func TestLegacyEndpointsRefuseAsTheContractSays(t *testing.T) {
	l := onDevnet(t)
	run := func(stack string) string {
		return `{"address":"` + nobody + `","method":"seqno","stack":` + stack + `}`
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		text               string
	}{
		{"GET", "/addressInformation", "", 401, "address of account is required"},
		{"GET", "/addressInformation?address=zz", "", 422, `failed to decode: schema: error converting value for "address"`},
		{"GET", "/addressInformation?use_v2=true&address=5", "", 422, `failed to decode: schema: error converting value for "address"`},
		{"GET", "/walletInformation", "", 401, "address of account is required"},
		{"GET", "/walletInformation?use_v2=true&address=-1:" + strings.Repeat("3", 64), "", 409, "not a wallet"},
		{"POST", "/message", `{}`, 401, "boc is required"},
		{"POST", "/message", `{"boc":""}`, 401, "boc is required"},
		{"POST", "/message", `{"boc":7}`, 422, "boc must be a string"},
		{"POST", "/message", `{"boc":"*"}`, 422, "invalid base64 encoded bytes: illegal base64 data at input byte 0"},
		{"POST", "/message", `{"boc":"AAAA"}`, 500, "INVALID_BAG_OF_CELLS: body"},
		{"POST", "/message", `{"boc":"te6cckEBAQEAAgAAAEysuc0="}`, 500, "CommonMsgInfo tag is not ext_in_msg_info"},
		{"POST", "/message", ``, 422, "Unprocessable Entity"},
		{"POST", "/message", `[`, 422, "the request body is no JSON object"},
		{"POST", "/estimateFee", `{"address":"zz","body":"te6cckEBAQEAAgAAAEysuc0="}`, 422, "failed to parse address"},
		{"POST", "/estimateFee", `{"address":"` + nobody + `","body":"AAAA"}`, 500, "INVALID_BAG_OF_CELLS: body"},
		{"POST", "/runGetMethod", `{}`, 401, "address is required"},
		{"POST", "/runGetMethod", `{"address":"` + nobody + `"}`, 401, "method is required"},
		{"POST", "/runGetMethod", `{"address":"` + nobody + `","method":85143}`, 422, "method must be a string"},
		{"POST", "/runGetMethod", `{"address":"zz","method":"seqno"}`, 422, "failed to parse address"},
		{"POST", "/runGetMethod", `{"address":"128:` + nobody[2:] + `","method":"seqno"}`, 422, "failed to parse address"},
		{"POST", "/runGetMethod", `{"address":"` + nobody + `","method":"seqno","seqno":"3"}`, 422, "seqno must be a positive integer of 32 bits"},
		{"POST", "/runGetMethod", `{"address":"` + nobody + `","method":"seqno","seqno":0}`, 422, "seqno must be a positive integer of 32 bits"},
		{"POST", "/runGetMethod", `{"address":"` + nobody + `","method":"seqno","seqno":2147483648}`, 422, "seqno must be a positive integer of 32 bits"},
		{"POST", "/runGetMethod", run("[" + strings.Repeat(`{"type":"num","value":"1"},`, 4096) + `{"type":"num","value":"1"}]`), 422, "stack has more than 4096 entries"},
		{"POST", "/estimateFee", `{"address":"` + nobody + `","body":"te6cckEBAQEAAgAAAEysuc0=","ignore_chksig":2}`, 422, "failed to parse ignore_chksig"},
		{"POST", "/runGetMethod", `{"address":"` + nobody + `","method":"seqno","seqno":1000}`, 500, "LITE_SERVER_NOTREADY: seqno not in db (last known masterchain block: 3)"},
		{"POST", "/runGetMethod", run(`[{"type":"tuple","value":[]}]`), 500, "unsupported stack parameter type: tuple"},
		{"POST", "/runGetMethod", run(`[{"type":"num","value":"zz"}]`), 500, "Invalid number: zz"},
		{"POST", "/runGetMethod", run(`[{"type":"cell","value":"AAAA"}]`), 500, "INVALID_BAG_OF_CELLS: bytes"},
		{"POST", "/runGetMethod", run(`7`), 422, "stack must be an array of {type, value}"},
	} {
		status, answer := l.send(c.method, c.path, c.body)
		if status != c.status || answer["error"] != c.text {
			t.Errorf("%s %s %s: %d %v, want %d %s", c.method, c.path, c.body, status, answer, c.status, c.text)
		}
	}
}

func TestLegacyEndpointsKnowNobodyWithoutAnError(t *testing.T) {
	l := onDevnet(t)
	zero := strings.Repeat("A", 43) + "="
	for _, c := range []struct {
		method, path, body string
		want               map[string]any
	}{
		{"GET", "/addressInformation?address=" + nobody, "", map[string]any{"balance": "0", "code": nil, "data": nil, "last_transaction_lt": "0", "last_transaction_hash": zero, "frozen_hash": nil, "status": "uninit"}},
		{"GET", "/addressInformation?use_v2=true&address=" + nobody, "", map[string]any{"status": "uninitialized"}},
		{"GET", "/walletInformation?address=" + nobody, "", map[string]any{"balance": "0", "last_transaction_lt": "0", "last_transaction_hash": zero, "status": "uninit"}},
		{"GET", "/addressInformation?address=128" + nobody[1:], "", map[string]any{"balance": "0", "last_transaction_hash": zero, "status": "uninit"}},
		{"GET", "/walletInformation?address=-2147483648" + nobody[1:], "", map[string]any{"balance": "0", "last_transaction_hash": zero, "status": "uninit"}},
		{"POST", "/runGetMethod", `{"address":"` + nobody + `","method":"seqno"}`, map[string]any{"gas_used": 0.0, "exit_code": -13.0}},
	} {
		status, answer := l.send(c.method, c.path, c.body)
		if status != http.StatusOK {
			t.Errorf("%s: %d %v", c.path, status, answer)
		}
		for key, want := range c.want {
			if got, there := answer[key]; !there || got != want {
				t.Errorf("%s: %s is %v, want %v", c.path, key, got, want)
			}
		}
	}
}

func TestSignaturesCountInEstimatesUnlessTheyAreToBeIgnored(t *testing.T) {
	for flag, want := range map[string]bool{"": false, "null": false, "false": false, "true": true} {
		sent := map[string]json.RawMessage{"address": json.RawMessage(`"` + nobody + `"`), "body": json.RawMessage(`"te6cckEBAQEAAgAAAEysuc0="`)}
		if flag != "" {
			sent["ignore_chksig"] = json.RawMessage(flag)
		}
		if _, ignored, err := readEstimate(sent); err != nil || ignored != want {
			t.Errorf("ignore_chksig %q: ignored %t, %v; want %t", flag, ignored, err, want)
		}
	}
}

func TestLegacyEndpointsNeedANodeLayer(t *testing.T) {
	l := newLegacy(t, nil)
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/addressInformation?use_v2=true&address=" + nobody, ""},
		{"GET", "/walletInformation?use_v2=true&address=" + nobody, ""},
		{"POST", "/message", `{"boc":"te6cckEBAQEAAgAAAEysuc0="}`},
		{"POST", "/estimateFee", `{"address":"` + nobody + `","body":"te6cckEBAQEAAgAAAEysuc0="}`},
		{"POST", "/runGetMethod", `{"address":"` + nobody + `","method":"seqno"}`},
	} {
		if status, answer := l.send(c.method, c.path, c.body); status != 500 || answer["error"] != "ton-http-api endpoint is not specified" {
			t.Errorf("%s: %d %v, want 500 ton-http-api endpoint is not specified", c.path, status, answer)
		}
	}
}

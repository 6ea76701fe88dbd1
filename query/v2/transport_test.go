package v2

import (
	"net/http"
	"strings"
	"testing"
)

const someAddress = "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N"

func TestEnvelopesEchoWhatWasSent(t *testing.T) {
	s := newService(t, nil)
	const params = `{"address":"` + someAddress + `","@extra":"mine"}`
	cases := []struct {
		what, method, target, body string
		want                       map[string]any
	}{
		{"query", "GET", "/packAddress?address=" + someAddress + "&@extra=mi%26ne&unknown=1&api_key=k", "", map[string]any{"@extra": "mi&ne", "jsonrpc": nil, "id": nil}},
		{"body", "POST", "/packAddress", params, map[string]any{"@extra": "mine", "jsonrpc": nil, "id": nil}},
		{"RPC", "POST", "/jsonRPC", `{"method":"packAddress","params":` + params + `,"id":"x7"}`, map[string]any{"@extra": "mine", "jsonrpc": "2.0", "id": "x7"}},
		{"RPC, number", "POST", "/jsonRPC", `{"method":"packAddress","params":` + params + `,"id":17,"jsonrpc":"2.0"}`, map[string]any{"jsonrpc": "2.0", "id": "17"}},
		{"RPC, null id", "POST", "/jsonRPC", `{"method":"packAddress","params":` + params + `,"id":null}`, map[string]any{"jsonrpc": "2.0", "id": nil}},
		{"RPC, no id", "POST", "/json-rpc", `{"method":"packAddress","params":` + params + `}`, map[string]any{"jsonrpc": "2.0", "id": nil}},
	}
	for _, c := range cases {
		r := s.send(c.method, Prefix+c.target, c.body)
		if r.status != 200 || r.body["ok"] != true || r.body["result"] != someAddress {
			t.Errorf("%s: %d %s", c.what, r.status, r.text)
		}
		for key, want := range c.want {
			if r.body[key] != want {
				t.Errorf("%s: %s is %v, want %v", c.what, key, r.body[key], want)
			}
		}
		if r.header.Get("X-API-Version") != Version || !strings.HasPrefix(r.header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: headers %v", c.what, r.header)
		}
	}
	for _, params := range []string{`{"address":"` + someAddress + `"}`, `{"address":"` + someAddress + `","@extra":null}`} {
		made := s.send("POST", Prefix+"/packAddress", params).body["@extra"].(string)
		if parts := strings.Split(made, ":"); len(parts) != 3 || parts[1] != "_" {
			t.Errorf("%s: @extra of our own is %q, want time:servers:milliseconds", params, made)
		}
	}
}

func TestErrorsEchoWhatWasSent(t *testing.T) {
	s := newService(t, nil)
	r := s.send("POST", Prefix+"/jsonRPC", `{"method":"packAddress","params":{"address":"zz","@extra":"mine"},"id":5}`)
	r.refusal(t, "bad address", 422, "failed to parse address")
	if r.body["id"] != "5" || r.body["jsonrpc"] != "2.0" || r.body["@extra"] != "mine" {
		t.Errorf("echo: %s", r.text)
	}
	r = s.send("POST", Prefix+"/jsonRPC", `{"method":"nothing","id":"1"}`)
	r.refusal(t, "unknown method", 422, "Unknown method")
	if r.body["id"] != "1" || r.body["@extra"] != "_" {
		t.Errorf("echo: %s", r.text)
	}
	r = s.send("POST", Prefix+"/jsonRPC", `{"method":"nothing","params":{"@extra":"mine"}}`)
	r.refusal(t, "unknown method", 422, "Unknown method")
	if r.body["@extra"] != "mine" {
		t.Errorf("echo: %s", r.text)
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	s := newService(t, nil)
	const bad = "failed to parse post request: "
	cases := []struct {
		method, target, body string
		status               int
		text                 string
	}{
		{"POST", "/packAddress", `{`, 422, bad + "invalid JSON at byte 1"},
		{"POST", "/packAddress", `[1]`, 422, bad + "Error at path '/': Wrong type. Expected: object"},
		{"POST", "/packAddress", `{"address":"` + someAddress + `","more":1}`, 422, bad + "Error at path '/': Unknown property 'more'"},
		{"POST", "/packAddress", `{"address":7}`, 422, "failed to parse address"},
		{"POST", "/packAddress", `{"address":null}`, 422, "empty address"},
		{"POST", "/packAddress", ``, 422, "empty address"},
		{"POST", "/packAddress", strings.Repeat("[", 3000), 422, bad + "nested more than 2048 deep"},
		{"POST", "/packAddress", `{"address":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "request body is longer than 1048576 bytes"},
		{"POST", "/jsonRPC", `{"method":"packAddress","params":["x"]}`, 422, "params must contain an object"},
		{"POST", "/jsonRPC", `{"method":"packAddress","params":"x"}`, 422, "params must contain an object"},
		{"POST", "/jsonRPC", `{"method":"packAddress","params":[]}`, 422, "empty address"},
		{"POST", "/jsonRPC", `{"method":"packAddress"}`, 422, "empty address"},
		{"POST", "/jsonRPC", `{"method":"packAddress","params":{"address":"` + someAddress + `","more":1}}`, 422, bad + "Error at path '/': Unknown property 'more'"},
		{"POST", "/jsonRPC", `{"params":{}}`, 422, bad + "Error at path 'method': Field is missing"},
		{"POST", "/jsonRPC", `{"method":5}`, 422, bad + "Error at path 'method': Wrong type. Expected: string"},
		{"POST", "/jsonRPC", `{"method":"packAddress","id":{}}`, 422, bad + "Error at path 'id': Wrong type. Expected: string or number"},
		{"POST", "/jsonRPC", `[{"method":"packAddress"}]`, 422, bad + "Error at path '/': Wrong type. Expected: object"},
		{"POST", "/jsonRPC", `not json`, 422, bad + "invalid JSON at byte 2"},
		{"GET", "/packAddress?address=" + strings.Repeat("x", 9000), "", 414, "query string is longer than 8192 bytes"},
		{"GET", "/jsonRPC", "", 405, "method GET is not supported"},
		{"PUT", "/packAddress", "", 405, "unsupported http method: PUT"},
		{"GET", "/nothing", "", 404, "Not Found"},
		{"POST", "/nothing", "{}", 404, "Not Found"},
	}
	for _, c := range cases {
		s.send(c.method, Prefix+c.target, c.body).refusal(t, c.method+" "+c.target[:min(len(c.target), 40)]+" "+c.body[:min(len(c.body), 60)], c.status, c.text)
	}
	if r := s.send("GET", Prefix+"/healthcheck", ""); r.status != http.StatusOK || r.text != "" {
		t.Errorf("healthcheck: %d %q, want 200 and nothing", r.status, r.text)
	}
}

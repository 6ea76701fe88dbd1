package v2

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"
)

// rpcNames are the spellings of the JSON-RPC path; letter case is not looked at.
var rpcNames = []string{"jsonRPC", "json-rpc", "json_rpc"}

// rpcName counts requests that name no method.
const rpcName = "jsonRPC"

// serveRPC takes {"method", "params", "id", "jsonrpc"} (contract 1.7). The
// status is that of the answer inside. It returns the method, nil for none.
func (a *API) serveRPC(w http.ResponseWriter, r *http.Request) *Method {
	e := &envelope{began: time.Now(), rpc: true}
	m, params, err := rpcRequest(r, e)
	if err != nil {
		e.extra = cmp.Or(e.extra, noSession)
		a.finish(w, r, rpcName, e, err)
		return nil
	}
	values, err := fromObject(m, params)
	a.serve(w, r, m, e, values, err)
	return m
}

func rpcRequest(r *http.Request, e *envelope) (*Method, map[string]json.RawMessage, error) {
	object, err := readObject(r)
	if err != nil {
		return nil, nil, err
	}
	params, badParams := rpcParams(object["params"])
	e.extra = extraIn(params)
	if !e.setID(object["id"]) {
		return nil, nil, badBody("Error at path 'id': Wrong type. Expected: string or number")
	}
	raw := object["method"]
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil, badBody("Error at path 'method': Field is missing")
	case raw[0] != '"':
		return nil, nil, badBody("Error at path 'method': Wrong type. Expected: string")
	}
	m, ok := byName[plain(raw)]
	if !ok {
		return nil, nil, unprocessable("Unknown method")
	}
	return m, params, badParams
}

// rpcParams takes an object; what is missing, null and an empty array are one
// without members.
func rpcParams(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var list []json.RawMessage
	if raw[0] == '[' && json.Unmarshal(raw, &list) == nil && len(list) == 0 {
		return nil, nil
	}
	var object map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &object) != nil {
		return nil, unprocessable("params must contain an object")
	}
	return object, nil
}

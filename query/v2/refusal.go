package v2

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// maxRefusedBytes is how much of the body of a refused JSON-RPC request is
// read for its id.
const maxRefusedBytes = 64 << 10

// Refuse answers a request that may not reach its method: an unknown key, a
// limit. The body is that of the method's own errors.
func Refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	e := &envelope{began: time.Now(), extra: noSession, rpc: isRPC(r)}
	if e.rpc {
		var request struct{ ID json.RawMessage }
		body, err := io.ReadAll(io.LimitReader(r.Body, maxRefusedBytes))
		if err == nil && json.Unmarshal(body, &request) == nil {
			e.setID(request.ID)
		}
	}
	e.failure = &Error{Status: status, Text: text}
	_, body := e.write()
	if r.Method == http.MethodHead {
		body = nil
	}
	write(w, status, body)
}

func isRPC(r *http.Request) bool {
	return r.Method == http.MethodPost && slices.ContainsFunc(rpcNames, func(name string) bool {
		return strings.EqualFold(name, path.Base(r.URL.Path))
	})
}

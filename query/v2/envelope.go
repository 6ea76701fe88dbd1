package v2

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"tonscribe/query/api"
	"tonscribe/query/node"
)

// envelope is an answer and what it is wrapped in.
type envelope struct {
	answer  node.Answer
	failure *Error // nil for a success
	extra   string
	rpc     bool // the answer is to JSON-RPC
	id      string
	hasID   bool
	began   time.Time
}

// noSession is the @extra of answers that no method gave.
const noSession = "_"

// extraOf is the request's own @extra, or one that says when the answer began, which
// lite servers were asked, and how many milliseconds it took, with six digits.
func extraOf(e *envelope) string {
	if e.extra != "" {
		return e.extra
	}
	servers := e.answer.Servers
	if servers == "" {
		servers = noSession
	}
	took := float64(time.Since(e.began).Microseconds()) / 1000
	text := strconv.FormatInt(e.began.Unix(), 10) + ":" + servers + ":" + strconv.FormatFloat(took, 'g', 6, 64)
	if e.answer.Cached {
		text += ":c"
	}
	return text
}

// about are the members behind the result or the error.
var about = []api.Member[*envelope]{
	text(extraName, extraOf).Doc("the request's own, or one that the server made"),
	api.Const[*envelope]("jsonrpc", `"2.0"`).If(func(e *envelope) bool { return e.rpc }).Doc("of answers to JSON-RPC"),
	text("id", func(e *envelope) string { return e.id }).If(func(e *envelope) bool { return e.hasID }).Doc("the request's id, of answers to JSON-RPC"),
}

var (
	success = api.New("Success", append([]api.Member[*envelope]{
		api.Const[*envelope]("ok", "true"),
		api.Written("result", nil, func(w *api.Writer, e *envelope) bool {
			w.JSON = append(w.JSON, e.answer.Body...)
			return true
		}),
	}, about...)...)
	failure = api.New("Failure", append([]api.Member[*envelope]{
		api.Const[*envelope]("ok", "false"),
		text("error", func(e *envelope) string { return e.failure.Text }).Doc("what is wrong"),
		api.Int32("code", func(e *envelope) int32 { return int32(e.failure.Status) }).Doc("the HTTP status"),
	}, about...)...)
)

// write returns the status and the body.
func (e *envelope) write() (int, []byte) {
	if e.failure != nil {
		return e.failure.Status, failure.Append(nil, e)
	}
	return http.StatusOK, success.Append(make([]byte, 0, len(e.answer.Body)+128), e)
}

// Failure is the body of an error that no method gave: unknown paths, methods
// of HTTP that are not served, refused keys.
func Failure(status int, text string) []byte {
	return failure.Append(nil, &envelope{extra: noSession, failure: &Error{Status: status, Text: text}})
}

// setID takes the id of a JSON-RPC request, a string or a number.
func (e *envelope) setID(raw json.RawMessage) bool {
	if len(raw) == 0 || string(raw) == "null" {
		return true
	}
	if c := raw[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
		return false
	}
	e.id, e.hasID = plain(raw), true
	return true
}

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

package v2

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"tonscribe/query/params"
	"tonscribe/query/stack"
)

// The limits of requests (contract 1.4).
const (
	MaxQueryBytes = 8 << 10
	maxNesting    = 2048
)

func (a *API) serveGet(w http.ResponseWriter, r *http.Request, m *Method) {
	e := &envelope{began: time.Now()}
	if len(r.URL.RawQuery) > MaxQueryBytes {
		a.finish(w, r, m.Name, e, &Error{Status: http.StatusRequestURITooLong, Text: "query string is longer than " + strconv.Itoa(MaxQueryBytes) + " bytes"})
		return
	}
	values, err := fromQuery(m, r.URL.RawQuery)
	a.serve(w, r, m, e, values, err)
}

func (a *API) servePost(w http.ResponseWriter, r *http.Request, m *Method) {
	e := &envelope{began: time.Now()}
	object, err := readObject(r)
	if err != nil {
		a.finish(w, r, m.Name, e, err)
		return
	}
	values, err := fromObject(m, object)
	a.serve(w, r, m, e, values, err)
}

// serve answers a request whose parameters were read; err is why they are bad.
func (a *API) serve(w http.ResponseWriter, r *http.Request, m *Method, e *envelope, v *Values, err error) {
	e.extra = v.extra
	if err == nil {
		e.answer, err = a.answer(r.Context(), m, v)
	}
	a.finish(w, r, m.Name, e, err)
}

// finish writes the answer.
func (a *API) finish(w http.ResponseWriter, r *http.Request, name string, e *envelope, err error) {
	if err != nil {
		e.failure = a.failure(r, name, err)
	}
	status, body := e.write()
	write(w, status, body)
	a.metrics.Observe(name, status, time.Since(e.began), len(body))
	if e.answer.Cached {
		a.cached.WithLabelValues(name).Inc()
	}
}

func write(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-API-Version", Version)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has gone when this fails
}

// NotFound answers paths under Prefix that nobody serves.
func NotFound(w http.ResponseWriter) {
	write(w, http.StatusNotFound, Failure(http.StatusNotFound, "Not Found"))
}

// BadMethod answers methods of HTTP that a path does not serve.
func BadMethod(w http.ResponseWriter, r *http.Request) {
	text := "unsupported http method: " + stack.Shortened(r.Method)
	if r.Method == http.MethodGet {
		text = "method GET is not supported"
	}
	body := Failure(http.StatusMethodNotAllowed, text)
	if r.Method == http.MethodHead {
		body = nil
	}
	write(w, http.StatusMethodNotAllowed, body)
}

// badBody is the answer to a body that is no object.
func badBody(reason string) *Error { return unprocessable("failed to parse post request: %s", reason) }

// readObject reads a body. An empty one is an object without members.
func readObject(r *http.Request) (map[string]json.RawMessage, error) {
	body, err := params.ReadBody(r, badBody("the body ends early"))
	if err != nil || len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return nil, err
	}
	return parseObject(body)
}

// parseObject takes an object apart; null is one without members.
func parseObject(body []byte) (map[string]json.RawMessage, error) {
	if nesting(body) > maxNesting {
		return nil, badBody("nested more than " + strconv.Itoa(maxNesting) + " deep")
	}
	var object map[string]json.RawMessage
	var syntax *json.SyntaxError
	err := json.Unmarshal(body, &object)
	switch {
	case errors.As(err, &syntax):
		return nil, badBody("invalid JSON at byte " + strconv.FormatInt(syntax.Offset, 10))
	case err != nil:
		return nil, badBody("Error at path '/': Wrong type. Expected: object")
	}
	return object, nil
}

// nesting is how deep arrays and objects are nested.
func nesting(body []byte) int {
	depth, deepest := 0, 0
	quoted := false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}', c == ']':
			depth--
		}
	}
	return deepest
}

package v2

import (
	"encoding/json"
	"strconv"
	"time"
)

// envelope is what every answer is wrapped in.
type envelope struct {
	extra   string
	rpc     bool // the answer is to JSON-RPC
	id      string
	hasID   bool
	began   time.Time
	servers string // the lite servers that were asked, "" for none
	cached  bool
}

// noSession is the @extra of answers that no method gave.
const noSession = "_"

// made is the @extra of an answer whose request had none: when it began, which
// lite servers answered, and how many milliseconds it took, with six digits.
func (e *envelope) made() string {
	servers := e.servers
	if servers == "" {
		servers = noSession
	}
	took := float64(time.Since(e.began).Microseconds()) / 1000
	text := strconv.FormatInt(e.began.Unix(), 10) + ":" + servers + ":" + strconv.FormatFloat(took, 'g', 6, 64)
	if e.cached {
		text += ":c"
	}
	return text
}

func (e *envelope) success(dst, result []byte) []byte {
	dst = append(dst, `{"ok":true,"result":`...)
	dst = append(dst, result...)
	return e.end(dst)
}

func (e *envelope) failure(dst []byte, err *Error) []byte {
	dst = append(dst, `{"ok":false,"error":`...)
	dst = appendText(dst, err.Text)
	dst = append(dst, `,"code":`...)
	dst = strconv.AppendInt(dst, int64(err.Status), 10)
	return e.end(dst)
}

func (e *envelope) end(dst []byte) []byte {
	if e.extra == "" {
		e.extra = e.made()
	}
	dst = append(dst, `,"@extra":`...)
	dst = appendText(dst, e.extra)
	if e.rpc {
		dst = append(dst, `,"jsonrpc":"2.0"`...)
	}
	if e.hasID {
		dst = append(dst, `,"id":`...)
		dst = appendText(dst, e.id)
	}
	return append(dst, '}')
}

// Failure is the body of an error that no method gave: unknown paths, methods
// of HTTP that are not served, refused keys.
func Failure(status int, text string) []byte {
	e := envelope{extra: noSession}
	return e.failure(nil, &Error{Status: status, Text: text})
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

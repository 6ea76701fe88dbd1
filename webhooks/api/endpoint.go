package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/webhooks/store"
)

// access says who may call an endpoint.
type access uint8

const (
	// merchants are whoever has a key with the scope, or a session.
	merchants access = iota
	// sessions are browsers that a merchant has signed in with.
	sessions
	// anybody needs neither.
	anybody
)

// Endpoint declares an endpoint. Everything that is known of it is here: routing, access,
// validation and the description read it.
type Endpoint struct {
	Method, Path string // below Prefix; a segment {name} is a parameter
	Name         string
	Tag          string
	Summary      string
	Description  string

	Access access
	Scope  string // that a key needs
	// Open says of a query that it needs no key. May be nil.
	Open func([]pair) bool
	// Transfers counts requests against the limit of registrations.
	Transfers bool

	InPath, InQuery, InBody []Param
	// OpenBody lets members be that nobody knows.
	OpenBody bool
	Result   result
	Errors   []*Error
}

// changes reports whether requests change what belongs to the merchant.
func (e *Endpoint) changes() bool { return e.Method != http.MethodGet && e.Tag != tagVerify }

// result is what an endpoint answers, and how it is written and described.
type result struct {
	openapi.Described
	kind  string // the content type
	write func(*call, *api.Writer) error
}

const asJSON = "application/json"

// of is the result of a function in a form.
func of[R any](form api.Form[R], do func(*call) (R, error)) result {
	return result{form, asJSON, func(c *call, w *api.Writer) error {
		row, err := do(c)
		if err == nil {
			form.Write(w, row)
		}
		return err
	}}
}

// done is the form of an answer that has nothing to say.
var done = api.New("Done", api.Const[struct{}]("done", "true"))

// nothing is the result of a function that only does something.
func nothing(do func(*call) error) result {
	return of(done, func(c *call) (struct{}, error) { return struct{}{}, do(c) })
}

// plain is the form of JSON that is there already.
type plain struct{ description string }

// Schema implements openapi.Described.
func (p plain) Schema(*openapi.Components) openapi.Object {
	return openapi.Schema("type", "object", "description", p.description, "additionalProperties", true)
}

// Write implements api.Form.
func (plain) Write(w *api.Writer, text json.RawMessage) { w.JSON = append(w.JSON, text...) }

// The tags.
const (
	tagTransfers  = "Transfers"
	tagSession    = "Session"
	tagWebhook    = "Webhook"
	tagDeliveries = "Deliveries"
	tagKeys       = "Keys"
	tagVerify     = "Verify"
)

var tags = []string{tagTransfers, tagWebhook, tagDeliveries, tagKeys, tagVerify, tagSession}

// endpoints are all of them. A new one is a line here.
var endpoints = []*Endpoint{
	createTransfer, getTransfer, listTransfers,
	getWebhook, putWebhook, revealSecret, rotateSecret, switchSecret, undoSecret, testWebhook, getHealth,
	listDeliveries, exportDeliveries, getDelivery, redeliver, replay, getReplay, cancelReplay,
	listKeys, makeKey, revokeKey, listAudit,
	verify, eventSchema,
	signIn, getSession, signOut,
}

// find returns the endpoint of a path below Prefix, or the methods that the path takes.
func find(method, path string) (e *Endpoint, v values, allowed []string) {
	segments := strings.Split(path, "/")
	for _, e := range endpoints {
		v, ok := e.match(segments)
		switch {
		case !ok:
		case e.Method == method:
			return e, v, nil
		default:
			allowed = append(allowed, e.Method)
		}
	}
	return nil, nil, allowed
}

// match holds segments of a path against that of an endpoint. Parameters are those that
// can be read; a segment that is none of them is another endpoint's.
func (e *Endpoint) match(segments []string) (values, bool) {
	own := strings.Split(e.Path, "/")
	if len(own) != len(segments) {
		return nil, false
	}
	v := values{}
	for i, segment := range own {
		name, is := strings.CutPrefix(segment, "{")
		if !is {
			if segment != segments[i] {
				return nil, false
			}
			continue
		}
		if segments[i] == "" {
			return nil, false
		}
		name = strings.TrimSuffix(name, "}")
		at := slices.IndexFunc(e.InPath, func(p Param) bool { return p.Name == name })
		value, ok := e.InPath[at].read(segments[i])
		if !ok {
			value = nil // no id of anything
		}
		v[name] = value
	}
	return v, true
}

// id is a parameter of a path: an id that cannot be one is that of nothing.
func id[V any](v values, name string) (V, error) {
	value, ok := v[name].(V)
	if !ok {
		return value, store.ErrNotFound
	}
	return value, nil
}

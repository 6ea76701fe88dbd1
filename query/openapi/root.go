// Package openapi describes the HTTP layers to machines and to readers.
//
// In: declarations of a layer's methods, the Go types of its answers, recorded
// answers as examples. Out: an OpenAPI 3.1 document, and a page that shows the
// documents and sends requests. The layers hand over the very declarations that
// they check requests with. The package knows no layer, and never states what a
// declaration does not say.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Document describes a layer.
type Document struct {
	Title, Version, Description string
	Prefix                      string // of all paths
	Namespace                   string // of every @type
	Tags                        []string
	Operations                  []*Operation
	// Error is the shape of every answer that is no success.
	Error Described
	// Wrap makes the schema of an answer from that of its result; nil leaves it.
	Wrap func(*Operation, Object) Object
}

// Operation describes a method of HTTP on a path.
type Operation struct {
	Path, Method string // below Prefix; in upper case
	ID, Tag      string
	Summary      string
	Description  string
	Query        []Parameter
	Headers      []Parameter
	// Body are the members of the JSON object that a POST sends; null stands for
	// one that is not sent.
	Body []Parameter
	// Closed says that members without a name here are refused.
	Closed bool
	// Result is the answer, nil for any.
	Result Described
	Errors []Error
	// Example is a real request and its answer; nil for none.
	Example *Example
}

// Parameter describes a parameter or a member of a body.
type Parameter struct {
	Name        string
	Description string
	Required    bool
	Schema      Object
	Default     any // nil for none
	// AllowEmpty says that an empty text in the query stands for the zero value.
	AllowEmpty bool
}

// Error is an answer other than 200: a status and one of the texts that go with it.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return e.Text }

// Example is a recorded request and its answer, which may be left out.
type Example struct {
	Query  map[string]any  `json:"query,omitempty"`
	Body   map[string]any  `json:"body,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

// Schema makes a schema of names and values in turn.
func Schema(pairs ...any) Object { return object(pairs...) }

// Render writes the document as JSON.
func (d *Document) Render() ([]byte, error) {
	s := newComponents(d.Namespace)
	paths := Object{}
	for _, path := range d.paths() {
		item := Object{}
		for _, o := range d.Operations {
			if o.Path == path {
				item = item.With(lower(o.Method), d.operation(s, o))
			}
		}
		paths = paths.With(d.Prefix+path, item)
	}
	if s.err != nil {
		return nil, fmt.Errorf("describe %s: %w", d.Prefix, s.err)
	}
	document := object(
		"openapi", "3.1.1",
		"info", object("title", d.Title, "version", d.Version, "description", d.Description,
			"license", object("name", "Apache 2.0", "identifier", "Apache-2.0")),
		"servers", []Object{object("url", "/", "description", "this server")},
		"security", security,
		"tags", d.tags(),
		"paths", paths,
		"components", object(
			"schemas", s.all(),
			"headers", headers,
			"securitySchemes", schemes,
		),
	)
	var out bytes.Buffer
	err := write(&out, document)
	return out.Bytes(), err
}

// security: a key may be sent in either way, or none.
var (
	security = []Object{object(), object("header", []string{}), object("query", []string{})}
	schemes  = object(
		"header", object("type", "apiKey", "in", "header", "name", "X-API-Key", "description", "API key; without one requests are limited to one a second"),
		"query", object("type", "apiKey", "in", "query", "name", "api_key", "description", "the same as a parameter"),
	)
	headers = object(
		"Version", object("description", "version of the layer", "schema", object("type", "string")),
		"RetryAfter", object("description", "seconds to wait", "schema", object("type", "integer", "minimum", 1)),
	)
	versionHeader = object("X-API-Version", object("$ref", "#/components/headers/Version"))
	retryHeader   = append(slices.Clone(versionHeader), Member{"Retry-After", object("$ref", "#/components/headers/RetryAfter")})
)

func lower(method string) string {
	if method == http.MethodPost {
		return "post"
	}
	return "get"
}

// paths are all paths in the order of their first operation.
func (d *Document) paths() (list []string) {
	for _, o := range d.Operations {
		if !slices.Contains(list, o.Path) {
			list = append(list, o.Path)
		}
	}
	return list
}

func (d *Document) tags() (list []Object) {
	for _, name := range d.Tags {
		list = append(list, object("name", name))
	}
	return list
}

// all are the components, each after those that it refers to.
func (s *Components) all() Object {
	list := Object{}
	for _, name := range s.order {
		list = list.With(name, s.components[name])
	}
	return list
}

func (d *Document) operation(s *Components, o *Operation) Object {
	operation := object("operationId", o.ID, "tags", []string{o.Tag}, "summary", o.Summary).WithText("description", o.Description)
	list := []Object{}
	for _, p := range o.Query {
		list = append(list, o.parameter("query", p))
	}
	for _, p := range o.Headers {
		list = append(list, o.parameter("header", p))
	}
	if len(list) > 0 {
		operation = operation.With("parameters", list)
	}
	if o.Method == http.MethodPost {
		operation = operation.With("requestBody", o.body())
	}
	return operation.With("responses", d.answers(s, o))
}

func (o *Operation) parameter(in string, p Parameter) Object {
	parameter := object("name", p.Name, "in", in).WithText("description", p.Description)
	if p.Required {
		parameter = parameter.With("required", true)
	}
	if p.AllowEmpty {
		parameter = parameter.With("allowEmptyValue", true)
	}
	parameter = parameter.With("schema", p.schema())
	if o.Example != nil && in == "query" {
		if value, ok := o.Example.Query[p.Name]; ok {
			parameter = parameter.With("example", value)
		}
	}
	return parameter
}

func (p *Parameter) schema() Object {
	if p.Default != nil {
		return slices.Clone(p.Schema).With("default", p.Default)
	}
	return p.Schema
}

func (o *Operation) body() Object {
	properties, required := Object{}, []string{}
	for _, p := range o.Body {
		member := slices.Clone(p.schema())
		if p.Required {
			required = append(required, p.Name)
		} else {
			member = OrNull(member)
		}
		properties = properties.With(p.Name, slices.Clone(member).WithText("description", p.Description))
	}
	schema := object("type", "object", "properties", properties, "additionalProperties", !o.Closed)
	if len(required) == 0 {
		schema = OrNull(schema)
	}
	if len(required) > 0 {
		schema = schema.With("required", required)
	}
	content := object("schema", schema)
	if o.Example != nil && o.Example.Body != nil {
		content = content.With("example", o.Example.Body)
	}
	body := object("content", object("application/json", content))
	if len(required) > 0 {
		body = body.With("required", true)
	}
	return body
}

// answers are the success and one response for each status of the errors.
func (d *Document) answers(s *Components, o *Operation) Object {
	var schema Object
	if o.Result != nil {
		schema = o.Result.Schema(s)
	}
	if d.Wrap != nil {
		schema = d.Wrap(o, schema)
	}
	content := object("schema", schema)
	if schema == nil {
		content = object("schema", object())
	}
	if o.Example != nil && len(o.Example.Answer) > 0 {
		content = content.With("example", o.Example.Answer)
	}
	answers := object("200", object("description", o.Summary, "headers", versionHeader, "content", object("application/json", content)))
	for _, status := range statuses(o.Errors) {
		answers = answers.With(strconv.Itoa(status), d.errors(s, status, o.Errors))
	}
	return answers
}

func statuses(list []Error) (all []int) {
	for _, e := range list {
		if !slices.Contains(all, e.Status) {
			all = append(all, e.Status)
		}
	}
	slices.Sort(all)
	return all
}

// errors is the response to one status; its description names the texts.
func (d *Document) errors(s *Components, status int, list []Error) Object {
	var texts []string
	for _, e := range list {
		if e.Status == status && !slices.Contains(texts, e.Text) {
			texts = append(texts, e.Text)
		}
	}
	shown := versionHeader
	if status == http.StatusTooManyRequests {
		shown = retryHeader
	}
	return object("description", strings.Join(texts, "; "), "headers", shown,
		"content", object("application/json", object("schema", d.Error.Schema(s))))
}

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
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
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
	// Schemes are the ways in which clients say who they are, Security which of them an
	// operation takes; without them those of API keys.
	Schemes  Object
	Security []Object
}

// Operation describes a method of HTTP on a path.
type Operation struct {
	Path, Method string // below Prefix; in upper case
	ID, Tag      string
	Summary      string
	Description  string
	InPath       []Parameter
	Query        []Parameter
	Headers      []Parameter
	// Body are the members of the JSON object that a POST or a PUT sends; null stands
	// for one that is not sent.
	Body []Parameter
	// Closed reports whether members without a name here are refused.
	Closed bool
	// Result is the answer, nil for any.
	Result Described
	// Kind is the content type of the answer, JSON when empty.
	Kind string
	// Status is that of the success, 200 when 0; 101 has no answer.
	Status int
	// Security is that of the operation, where it is another one than the document's.
	Security []Object
	Errors   []Error
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
	// AllowEmpty reports whether an empty text in the query stands for the zero value.
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

// Render writes the document as JSON.
func (d *Document) Render() ([]byte, error) {
	s := &Components{Namespace: d.Namespace, components: map[string]Object{}, owners: map[string]any{}}
	paths := Object{}
	for _, o := range d.Operations {
		path := d.Prefix + o.Path
		at := slices.IndexFunc(paths, func(m Member) bool { return m.Name == path })
		if at < 0 {
			at, paths = len(paths), paths.With(path, Object{})
		}
		paths[at].Value = paths[at].Value.(Object).With(strings.ToLower(o.Method), d.operation(s, o))
	}
	if s.err != nil {
		return nil, fmt.Errorf("describe %s: %w", d.Prefix, s.err)
	}
	var tags []Object
	for _, name := range d.Tags {
		tags = append(tags, Schema("name", name))
	}
	schemas := Object{} // each after those that it refers to
	for _, name := range s.order {
		schemas = schemas.With(name, s.components[name])
	}
	document := Schema(
		"openapi", "3.1.1",
		"info", Schema("title", d.Title, "version", d.Version, "description", d.Description,
			"license", Schema("name", "Apache 2.0", "identifier", "Apache-2.0")),
		"servers", []Object{Schema("url", "/", "description", "this server")},
		"security", either(d.Security, security),
		"tags", tags,
		"paths", paths,
		"components", Schema(
			"schemas", schemas,
			"headers", headers,
			"securitySchemes", either(d.Schemes, schemes),
		),
	)
	var out bytes.Buffer
	err := write(&out, document)
	return out.Bytes(), err
}

// either is a list, or the usual one when there is none.
func either[L ~[]E, E any](list, usual L) L {
	if len(list) > 0 {
		return list
	}
	return usual
}

// security: a key may be sent in either way, or none.
var (
	security = []Object{Schema(), Schema("header", []string{}), Schema("query", []string{})}
	schemes  = Schema(
		"header", Schema("type", "apiKey", "in", "header", "name", "X-API-Key", "description", "API key; without one requests are limited to one a second"),
		"query", Schema("type", "apiKey", "in", "query", "name", "api_key", "description", "the same as a parameter"),
	)
	headers = Schema(
		"Version", Schema("description", "version of the layer", "schema", Schema("type", "string")),
		"RetryAfter", Schema("description", "seconds to wait", "schema", Schema("type", "integer", "minimum", 1)),
	)
	versionHeader = Schema("X-API-Version", Schema("$ref", "#/components/headers/Version"))
	retryHeader   = append(slices.Clone(versionHeader), Member{"Retry-After", Schema("$ref", "#/components/headers/RetryAfter")})
)

func (d *Document) operation(s *Components, o *Operation) Object {
	operation := Schema("operationId", o.ID, "tags", []string{o.Tag}, "summary", o.Summary).WithText("description", o.Description)
	if len(o.Security) > 0 {
		operation = operation.With("security", o.Security)
	}
	var list []Object
	for _, p := range o.InPath {
		list = append(list, o.parameter("path", p))
	}
	for _, p := range o.Query {
		list = append(list, o.parameter("query", p))
	}
	for _, p := range o.Headers {
		list = append(list, o.parameter("header", p))
	}
	if len(list) > 0 {
		operation = operation.With("parameters", list)
	}
	if o.Method == http.MethodPost || o.Method == http.MethodPut {
		operation = operation.With("requestBody", o.body())
	}
	return operation.With("responses", d.answers(s, o))
}

func (o *Operation) parameter(in string, p Parameter) Object {
	parameter := Schema("name", p.Name, "in", in).WithText("description", p.Description)
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
		member := p.schema()
		if p.Required {
			required = append(required, p.Name)
		} else {
			member = OrNull(member)
		}
		properties = properties.With(p.Name, slices.Clone(member).WithText("description", p.Description))
	}
	schema := Schema("type", "object", "properties", properties, "additionalProperties", !o.Closed)
	if len(required) == 0 {
		schema = OrNull(schema)
	} else {
		schema = schema.With("required", required)
	}
	content := Schema("schema", schema)
	if o.Example != nil && o.Example.Body != nil {
		content = content.With("example", o.Example.Body)
	}
	body := Schema("content", Schema("application/json", content))
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
	content := Schema("schema", schema)
	if schema == nil {
		content = Schema("schema", Schema())
	}
	if o.Example != nil && len(o.Example.Answer) > 0 {
		content = content.With("example", o.Example.Answer)
	}
	success := Schema("description", o.Summary)
	if o.Status != http.StatusSwitchingProtocols {
		success = success.With("headers", versionHeader).With("content", Schema(cmp.Or(o.Kind, "application/json"), content))
	}
	answers := Schema(strconv.Itoa(cmp.Or(o.Status, http.StatusOK)), success)
	texts := map[int][]string{}
	for _, e := range o.Errors {
		if !slices.Contains(texts[e.Status], e.Text) {
			texts[e.Status] = append(texts[e.Status], e.Text)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(texts)) {
		answers = answers.With(strconv.Itoa(status), d.errors(s, status, texts[status]))
	}
	return answers
}

// errors is the response to one status; its description names the texts.
func (d *Document) errors(s *Components, status int, texts []string) Object {
	shown := versionHeader
	if status == http.StatusTooManyRequests {
		shown = retryHeader
	}
	return Schema("description", strings.Join(texts, "; "), "headers", shown,
		"content", Schema("application/json", Schema("schema", d.Error.Schema(s))))
}

package v3

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	v2 "tonscribe/query/v2"
)

// Describe is the OpenAPI document of the layer. The examples are by the
// endpoints' paths without the first slash.
func Describe(endpoints []*Endpoint, examples map[string]*openapi.Example) *openapi.Document {
	d := &openapi.Document{
		Title: "TON index", Version: Version, Prefix: Prefix,
		Description: "The whole history of the chain, indexed: blocks, transactions, messages, accounts and tokens, with filters and pages. Unknown parameters are ignored, and named in the header Warning.",
		Error:       failure,
	}
	for _, e := range endpoints {
		if !strings.Contains(strings.Join(d.Tags, "\n"), e.Tag) {
			d.Tags = append(d.Tags, e.Tag)
		}
		for _, path := range append([]string{e.Path}, e.Aliases...) {
			d.Operations = append(d.Operations, e.describe(path, examples[strings.TrimPrefix(e.Path, "/")]))
		}
	}
	return d
}

// failure is the shape of an error.
var failure = api.New("Failure",
	api.Const[*params.Error]("ok", "false"),
	api.Text("error", func(e *params.Error) string { return e.Text }).Doc("what is wrong"),
	api.Int32("code", func(e *params.Error) int32 { return int32(e.Status) }).Doc("the HTTP status"),
)

// Failure appends the body of an error answer.
func Failure(body []byte, status int, text string) []byte {
	return failure.Append(body, &params.Error{Status: status, Text: text})
}

// describe is the operation of an endpoint at one of its paths.
func (e *Endpoint) describe(path string, example *openapi.Example) *openapi.Operation {
	o := &openapi.Operation{
		Path: path, Method: http.MethodGet, ID: operationID(path), Tag: e.Tag, Summary: e.Summary, Description: e.Description,
		Result: e.Result, Errors: e.errors(), Headers: slices.Concat(optionHeaders, e.Headers), Example: example,
	}
	for i := range e.Params {
		o.Query = append(o.Query, describeParam(&e.Params[i]))
	}
	if e.Body == nil {
		return o
	}
	o.Method, o.Body = http.MethodPost, e.Body
	if e.Twin {
		o.ID += "Post"
	}
	return o
}

func operationID(path string) string {
	var id strings.Builder
	for i, part := range strings.Split(strings.Trim(path, "/"), "/") {
		if i > 0 {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		id.WriteString(part)
	}
	return id.String()
}

// AnyText is the schema of a text.
var AnyText = openapi.Schema("type", "string")

// optionHeaders are the request options of contract 1.2. What cannot be read is
// ignored.
var optionHeaders = []openapi.Parameter{
	{Name: "X-No-Address-Book", Schema: AnyText, Description: "true: address_book is {}; like the parameter x_no_address_book"},
	{Name: "X-No-Metadata", Schema: AnyText, Description: "true: metadata is {}; like the parameter x_no_metadata"},
	{Name: "X-Timeout", Schema: AnyText, Description: "query timeout in milliseconds, a shorter one than the server's; like the parameter x_timeout"},
}

func (e *Endpoint) errors() (list []params.Error) {
	add := func(errors ...params.Error) { list = append(list, errors...) }
	add(e.Errors...)
	if len(e.Params) > 0 {
		add(*params.Unprocessable("failed to decode: schema: error converting value for %q", "NAME"))
	}
	for i := range e.Params {
		switch p := &e.Params[i]; {
		case p.Multi:
			add(*params.Unprocessable("failed to decode: schema: error converting value for index N of %q", "NAME"))
			add(*cmp.Or(p.TooMany, params.Unprocessable("%q has N values, at most %d are allowed", "NAME", params.MaxListValues)))
		case p.Kind == params.SortKind:
			add(*params.Unprocessable("wrong value for sort parameter"), *params.Unprocessable("limit is not allowed: N > %d", params.MaxLimit), *params.BadCursor())
		}
	}
	if e.Body != nil {
		add(*params.Unprocessable("Unprocessable Entity"), *params.Unprocessable("the request body is no JSON object"))
		add(params.BodyErrors...)
	}
	add(v2.EveryMethod...)
	add(params.Error{Status: http.StatusRequestURITooLong, Text: "query string is longer than " + strconv.Itoa(MaxQueryBytes) + " bytes"})
	if e.Node {
		for _, known := range v2.EveryNodeMethod {
			if known.Status < 542 { // without lite servers there is an answer of this layer's own
				add(known)
			}
		}
		add(*ErrNoNode)
	} else {
		add(*params.Unprocessable("%s", tooHeavy), *errBusy)
	}
	add(*internal(""))
	return list
}

func describeParam(p *params.Param) openapi.Parameter {
	schema := paramSchema(p)
	if p.Multi {
		if pattern := schema.Text("pattern"); pattern != "" { // empty ones are dropped
			schema = openapi.Schema("type", "string", "pattern", openapi.EmptyOr(pattern))
		}
		schema = openapi.Schema("type", "array", "items", schema, "maxItems", params.MaxListValues)
		if strings.HasPrefix(p.Range, "1..") {
			schema = schema.With("minItems", 1)
		}
	}
	description := p.Description
	if p.Range != "" {
		description += " (" + p.Range + ")"
	}
	described := openapi.Parameter{Name: p.Name, Description: description, Required: p.Required, Schema: schema, AllowEmpty: p.AllowsEmpty()}
	if p.Default != "" {
		if described.Default = paramDefault(p); p.Multi {
			described.Default = []any{described.Default}
		}
	}
	return described
}

func paramSchema(p *params.Param) openapi.Object {
	switch p.Kind {
	case params.AddressKind:
		return openapi.Schema("type", "string", "pattern", openapi.AnyAddress)
	case params.AddressOrNullKind:
		return openapi.Schema("anyOf", []openapi.Object{openapi.Schema("type", "string", "pattern", openapi.AnyAddress), openapi.Schema("const", "null")})
	case params.HashKind:
		return openapi.Schema("type", "string", "pattern", paddedHash)
	case params.ShardKind:
		return openapi.Schema("type", "string", "pattern", `^(?:(?:0[xX])?0*[0-9a-fA-F]{1,16}|`+openapi.Negative(1<<63)+`)$`)
	case params.OpcodeKind:
		return openapi.Schema("type", "string", "pattern", `^(?:(?:0[xX])?0*[0-9a-fA-F]{1,8}|`+openapi.Negative(1<<31)+`)$`)
	case params.Uint64Kind:
		return openapi.Schema("type", "string", "format", "uint64", "pattern", openapi.Uint64Text)
	case params.UtimeKind:
		return openapi.Schema("type", "number", "minimum", 0)
	case params.SeqnoKind: // what is no number counts as 0
		return openapi.Schema("anyOf", []openapi.Object{openapi.Schema("type", "integer", "format", "int32"), openapi.Schema("type", "string")})
	case params.Int32Kind:
		return int32Schema(p)
	case params.BoolKind:
		return openapi.Schema("anyOf", []openapi.Object{
			openapi.Schema("type", "boolean"), openapi.Schema("type", "string", "enum", params.BoolWords),
		})
	case params.SortKind:
		return openapi.Schema("anyOf", []openapi.Object{
			openapi.Schema("type", "string", "enum", p.Enum), openapi.Schema("type", "string", "pattern", `^(?:[aA]|[aA][sS][cC]|[dD]|[dD][eE][sS][cC])$`),
		})
	}
	if len(p.Enum) > 0 {
		return openapi.Schema("type", "string", "enum", p.Enum)
	}
	return openapi.Schema("type", "string")
}

// paddedHash is AnyHash as this layer takes it.
const paddedHash = `^(?:(?:0[xX])?[0-9a-fA-F]{64}|[A-Za-z0-9+/]{43}=|[A-Za-z0-9_-]{43}=)$`

// int32Schema has the bounds of the range that the parameter's description shows,
// as far as the endpoint holds them: those of paging count from 1 and 0.
func int32Schema(p *params.Param) openapi.Object {
	minimum, maximum := math.MinInt32, math.MaxInt32
	if low, high, ok := strings.Cut(p.Range, ".."); ok {
		if n, err := strconv.Atoi(high); err == nil {
			maximum = n
		}
		if n, err := strconv.Atoi(low); err == nil && p.Group != params.Paging {
			minimum = n
		}
	}
	return openapi.Schema("type", "integer", "format", "int32", "minimum", minimum, "maximum", maximum)
}

// paramDefault is the default as a value of the schema.
func paramDefault(p *params.Param) any {
	if n, err := strconv.Atoi(p.Default); err == nil && p.Kind == params.Int32Kind {
		return n
	}
	if b, ok := params.ParseBool(p.Default); ok && p.Kind == params.BoolKind {
		return b
	}
	return p.Default
}

package v2

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"tonscribe/query/openapi"
	"tonscribe/query/params"
)

// Describe is the OpenAPI document of the layer. The examples are by the
// methods' names, with the namespace chain.
func Describe(namespace string, examples map[string]*openapi.Example) *openapi.Document {
	d := &openapi.Document{
		Title: "TON node access", Version: Version, Prefix: Prefix,
		Description: "What lite servers say and prove: state of accounts, blocks, transactions, get-methods, and the way to send messages. Every method takes POST with its parameters as a JSON object, JSON-RPC takes them as `params`, and all but those that send a message, estimate its fees or run a get-method that is named take GET.",
		Namespace:   namespace, Tags: tags, Error: failure, Wrap: wrap,
	}
	for _, m := range methods {
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			d.Operations = append(d.Operations, m.describe(name, examples[m.Name])...)
		}
	}
	d.Operations = append(d.Operations, describeRPC(examples[rpcName]))
	return d
}

var tags = []string{tagAccounts, tagBlocks, tagTransactions, tagSend, tagRunMethod, tagUtils, tagConfiguration, tagRPC}

const tagRPC = "RPC"

// wrap is the envelope of a success.
func wrap(o *openapi.Operation, result openapi.Object) openapi.Object {
	properties := openapi.Schema(
		"ok", openapi.Schema("const", true),
		"result", result,
		extraName, openapi.Schema("type", "string", "description", "the request's own, or one that the server made"),
	)
	required := []string{"ok", "result", extraName}
	if o.ID == rpcName {
		properties[1].Value = openapi.Schema("description", "the result of the method")
		properties = properties.With("jsonrpc", openapi.Schema("const", "2.0")).
			With("id", openapi.Schema("type", "string", "description", "the request's id"))
		required = append(required, "jsonrpc")
	}
	return openapi.Schema("type", "object", "properties", properties, "required", required)
}

// describe is the operations of a method under one of its names.
func (m *Method) describe(name string, example *openapi.Example) []*openapi.Operation {
	post := &openapi.Operation{
		Path: "/" + name, Method: http.MethodPost, ID: name + "Post", Tag: m.Tag, Summary: m.Summary, Description: m.Description,
		Result: m.Result, Errors: m.errors(), Example: asBody(example), Closed: true,
	}
	get := *post
	get.Method, get.ID, get.Example = http.MethodGet, name, example
	get.Errors = append(slices.Clone(post.Errors), Error{
		Status: http.StatusRequestURITooLong, Text: "query string is longer than " + strconv.Itoa(MaxQueryBytes) + " bytes",
	})
	for i := range m.Params {
		p := &m.Params[i]
		get.Query, post.Body = append(get.Query, p.describe(false)), append(post.Body, p.describe(true))
	}
	get.Query, post.Body = append(get.Query, extraParam), append(post.Body, extraMember)
	post.Errors = append(post.Errors, bodyErrors...)
	if m.PostOnly {
		post.ID = name
		return []*openapi.Operation{post}
	}
	return []*openapi.Operation{&get, post}
}

var extraParam = openapi.Parameter{
	Name: extraName, Schema: openapi.Schema("type", "string"), Description: "any text; the answer repeats it",
}

// extraMember is extraParam in a body: whatever it is, the answer has it as text.
var extraMember = openapi.Parameter{Name: extraName, Schema: openapi.Schema(), Description: extraParam.Description}

var bodyErrors = append([]Error{*badBody("<reason>")}, params.BodyErrors...)

// asBody is a recorded GET as the POST that asks the same; the answer stands with
// the GET.
func asBody(e *openapi.Example) *openapi.Example {
	if e == nil || e.Body != nil {
		return e // recorded as a POST
	}
	return &openapi.Example{Body: e.Query}
}

func (m *Method) errors() (list []Error) {
	for i := range m.Params {
		list = append(list, m.Params[i].Errors()...)
	}
	list = append(append(append(list, m.Errors...), EveryMethod...), *errInternal)
	switch {
	case m.unanswered != nil:
		list = append(list, *m.unanswered)
	case !m.Local:
		list = append(list, EveryNodeMethod...)
	}
	return list
}

// Schemas of what requests may hold.
var (
	int32Text  = openapi.Schema("type", "string", "pattern", openapi.Int32Text)
	int64Text  = openapi.Schema("type", "string", "pattern", openapi.Int64Text)
	wordText   = openapi.Schema("type", "string", "pattern", `^(?:[yY]|[yY][eE][sS]|[tT]|[tT][rR][uU][eE]|[oO][nN]|1|[nN]|[nN][oO]|[fF]|[fF][aA][lL][sS][eE]|[oO][fF][fF]|0)$`)
	cellObject = openapi.Schema("type", "object", "description", `a cell: {"data":{"b64":bits,"len":how many},"refs":[cells]}, with "special":true for a special one`)
)

func (p *Param) describe(inBody bool) openapi.Parameter {
	described := openapi.Parameter{Name: p.Name, Description: p.Description, Required: p.Required, Schema: p.schema(inBody)}
	if p.Default != "" {
		described.Default = p.shownDefault()
	}
	return described
}

// schema is that of a value in a query, or in JSON.
func (p *Param) schema(inBody bool) openapi.Object {
	switch p.Kind {
	case AddressKind:
		return openapi.Schema("type", "string", "pattern", openapi.AnyAddress)
	case HashKind:
		if !p.Required { // an empty one counts as absent
			return openapi.Schema("type", "string", "pattern", openapi.EmptyOr(openapi.AnyHash))
		}
		return openapi.Schema("type", "string", "pattern", openapi.AnyHash)
	case AccountKind:
		return openapi.Schema("anyOf", []openapi.Object{
			openapi.Schema("type", "string", "pattern", openapi.AnyAddress), openapi.Schema("type", "string", "pattern", openapi.AnyHash),
		})
	case Int32Kind, Int64Kind, ShardKind:
		return p.integer(inBody)
	case BoolKind, FlagKind:
		return p.boolean(inBody)
	case HashesKind:
		return openapi.Schema("type", "array", "items", openapi.Schema("type", "string", "pattern", openapi.AnyHash))
	case BytesKind:
		return openapi.Schema("type", "string", "pattern", anyBase64, "contentEncoding", "base64")
	case MethodKind:
		return openapi.Schema("type", []string{"string", "integer"})
	case StackKind:
		return openapi.Schema("type", "array", "items", openapi.Schema(
			"type", "array", "minItems", 2, "maxItems", 2,
			"prefixItems", []openapi.Object{openapi.Schema("type", "string", "enum", []string{
				"num", "int", "number", "integer", "cell", "tvm.Cell", "slice", "tvm.Slice", "tuple", "tvm.Tuple", "list", "tvm.List",
			})},
		))
	case StackStdKind:
		return openapi.Schema("type", "array", "items", openapi.Schema(
			"type", "object", "required", []string{"@type"}, "properties", openapi.Schema("@type", openapi.Schema("type", "string", "enum", []string{
				"tvm.stackEntryNumber", "tvm.stackEntryCell", "tvm.stackEntrySlice", "tvm.stackEntryTuple", "tvm.stackEntryList",
			})),
		))
	case CellKind:
		return cellObject
	}
	return openapi.Schema("type", "string")
}

// Flag is a JSON boolean, or 0 and 1 as some clients write it.
var Flag = openapi.Schema("anyOf", []openapi.Object{
	openapi.Schema("type", "boolean"), openapi.Schema("type", "integer", "enum", []int{0, 1}),
})

// anyBase64 is base64 of either alphabet.
const anyBase64 = `^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}==|[A-Za-z0-9+/_-]{3}=)?$`

// boolean is a boolean, or a word or a number for one; of a flag, JSON has no words.
func (p *Param) boolean(inBody bool) openapi.Object {
	switch {
	case inBody && p.Kind == FlagKind:
		return Flag
	case inBody:
		return openapi.Schema("anyOf", []openapi.Object{openapi.Schema("type", "boolean"), openapi.Schema("type", "integer"), wordText})
	}
	return openapi.Schema("anyOf", []openapi.Object{openapi.Schema("type", "boolean"), wordText})
}

// integer is a number; those that JavaScript's numbers cannot hold are texts.
func (p *Param) integer(inBody bool) openapi.Object {
	if p.Kind == ShardKind || p.Kind == Int64Kind && p.Max == nil {
		pattern, maximum := openapi.Int64Text, uint64(math.MaxInt64)
		if p.Kind == ShardKind {
			pattern, maximum = `^0[xX][0-9a-fA-F]{16}$|`+openapi.Int64Text+`|`+openapi.Uint64Text, math.MaxUint64
		}
		schema := openapi.Schema("type", "string", "format", "int64", "pattern", pattern)
		if !inBody {
			return schema
		}
		return openapi.Schema("anyOf", []openapi.Object{schema, openapi.Schema("type", "integer", "minimum", int64(math.MinInt64), "maximum", maximum)})
	}
	format, text, minimum, maximum := "int32", int32Text, int64(math.MinInt32), int64(math.MaxInt32)
	if p.Kind == Int64Kind {
		format, text, minimum, maximum = "int64", int64Text, math.MinInt64, math.MaxInt64
	}
	if p.Min != nil {
		minimum = *p.Min
	}
	if p.Max != nil {
		maximum = *p.Max
	}
	schema := openapi.Schema("type", "integer", "format", format, "minimum", minimum, "maximum", maximum)
	if !inBody {
		return schema
	}
	return openapi.Schema("anyOf", []openapi.Object{schema, text})
}

// shownDefault is the default as a value of the schema.
func (p *Param) shownDefault() any {
	switch p.Kind {
	case BoolKind, FlagKind:
		value, _ := parseWord(p.Default)
		return value
	case Int32Kind, Int64Kind:
		if n, ok := parseInteger(p.Kind, p.Default); ok && (p.Kind == Int32Kind || p.Max != nil) {
			return n
		}
	case StackKind, StackStdKind, HashesKind, CellKind:
		return json.RawMessage(p.Default)
	}
	return p.Default
}

// describeRPC is the path that takes any method.
func describeRPC(example *openapi.Example) *openapi.Operation {
	names := make([]string, 0, len(methods))
	for _, m := range methods {
		names = append(append(names, m.Name), m.Aliases...)
	}
	o := &openapi.Operation{
		Path: "/" + rpcName, Method: http.MethodPost, ID: rpcName, Tag: tagRPC, Summary: "JSON-RPC",
		Description: fmt.Sprintf("Any method by its name, with its parameters as an object. The status is that of the method's answer. `/%s` and `/%s` are the same path.", rpcNames[1], rpcNames[2]),
		Body: []openapi.Parameter{
			{Name: "method", Required: true, Schema: openapi.Schema("type", "string", "enum", names), Description: "name of the method"},
			{Name: "params", Schema: openapi.Schema("type", []string{"object", "array"}, "maxItems", 0), Description: "the method's parameters; an empty array is none"},
			{Name: "id", Schema: openapi.Schema("type", []string{"string", "number"}), Description: "the answer repeats it as a text"},
			{Name: "jsonrpc", Schema: openapi.Schema(), Description: "2.0; it is not looked at"},
		},
		Errors: append([]Error{
			{Status: http.StatusUnprocessableEntity, Text: "Unknown method"},
			{Status: http.StatusUnprocessableEntity, Text: "params must contain an object"},
		}, bodyErrors...),
		Example: example,
	}
	for _, m := range methods {
		for _, e := range m.errors() {
			if e.Status != http.StatusUnprocessableEntity {
				o.Errors = append(o.Errors, e)
			}
		}
	}
	return o
}

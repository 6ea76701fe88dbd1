package endpoints

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/stack"
	v2 "tonscribe/query/v2"
	v3 "tonscribe/query/v3"
)

var (
	errNoAddress, errNoMethod = missing("address is required"), missing("method is required")
	errBadAddress             = params.Unprocessable("failed to parse address")
	errBadSeqno               = params.Unprocessable("seqno must be a positive integer of 32 bits")
	errTooManyArguments       = params.Unprocessable("stack has more than %d entries", stack.MaxArguments)
	errNoArguments            = params.Unprocessable("stack must be an array of {type, value}")
)

// runShape is the form of what a get-method left.
var runShape = api.New("RunGetMethodAnswer",
	api.Int64("gas_used", func(r *node.Ran) int64 { return r.GasUsed }),
	api.Int64("exit_code", func(r *node.Ran) int64 { return int64(r.ExitCode) }),
	api.List("stack", stack.PlainEntries, func(r *node.Ran) []node.Entry { return r.Stack }, api.Same[node.Entry]),
)

var argumentsSchema = openapi.Schema("type", "array", "items", openapi.Schema(
	"type", "object", "properties", openapi.Schema("type", openapi.Schema("type", "string", "enum", []string{"num", "cell", "slice"}), "value", openapi.Schema()),
	"required", []string{"type", "value"},
))

var runGetMethod = &v3.Endpoint{
	Path: "/runGetMethod", Tag: nodeAccess, Summary: "Run a get-method",
	Description: "Runs a get-method on the proven state of an account. Every exit code is a success of the request.",
	Body: []openapi.Parameter{
		{Name: "address", Schema: v3.AnyText, Required: true, Description: "contract"},
		{Name: "method", Schema: v3.AnyText, Required: true, Description: "name of the get-method, or its number as text"},
		{Name: "stack", Schema: argumentsSchema, Description: "arguments {type, value} of the types num, cell and slice, the first at the bottom"},
		{Name: "seqno", Schema: openapi.Schema("type", "integer", "minimum", 1, "maximum", math.MaxInt32), Description: "masterchain block on whose state the method runs; the newest by default"},
	},
	Result: runShape, Node: true,
	Errors: []params.Error{
		*errNoAddress, *errNoMethod, *unsupported("<type>"), *errBadAddress, *errBadSeqno, *errTooManyArguments, refusedInside("failed to parse stack"),
		refusedInside("Invalid number: <text>"), refusedInside("Wrong type of number in stack entry"), refusedInside("invalid base64 encoded bytes: <reason>"),
		refusedInside("Empty <type>"), refusedInside("Result stack depth >= <limit>"),
	},
	Serve: func(q *v3.Request) error {
		run, key, err := runOf(q)
		if err != nil {
			return err
		}
		return share(q, "runGetMethodStd", 32, key, runShape, func(ctx context.Context) (*node.Ran, error) {
			ran, err := q.Node.RunGetMethod(ctx, run)
			return ran, inside(err)
		})
	},
}

// run reads what is to be run, and a key that tells it apart.
func runOf(q *v3.Request) (run node.Run, key string, err error) {
	address, err := textOf(q, "address")
	if err != nil {
		return run, "", err
	}
	method, err := textOf(q, "method")
	account, readable := v2.ParseAddress(address)
	switch {
	case err != nil:
		return run, "", err
	case address == "":
		return run, "", errNoAddress
	case method == "":
		return run, "", errNoMethod
	case !readable:
		return run, "", errBadAddress
	}
	run = node.Run{Account: account.Address, Method: v2.MethodID(method), MaxDepth: v2.MaxTypedDepth}
	if raw := q.Sent["seqno"]; len(raw) > 0 && string(raw) != "null" {
		n, err := strconv.ParseInt(string(raw), 10, 32)
		if err != nil || n < 1 {
			return run, "", errBadSeqno
		}
		run.Seqno = new(uint32(n))
	}
	arguments, err := argumentsOf(q.Sent["stack"])
	if err != nil {
		return run, "", err
	}
	if !hasNode(q) {
		return run, "", v3.ErrNoNode
	}
	for _, e := range arguments {
		value, err := stack.Plain(e.Type, e.Value)
		if err != nil {
			return run, "", inside(err)
		}
		run.Stack = append(run.Stack, value)
	}
	return run, fmt.Sprintf("%s %d %s %q", account.String(), run.Method, q.Sent["seqno"], q.Sent["stack"]), nil
}

// unsupported is the answer to a stack entry of another type.
func unsupported(kind string) *params.Error {
	return &params.Error{Status: http.StatusInternalServerError, Text: "unsupported stack parameter type: " + stack.Shortened(kind)}
}

// argument is a value on its way to the stack.
type argument struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// argumentsOf reads a list of {type, value}.
func argumentsOf(raw json.RawMessage) (list []argument, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('[') {
		return nil, errNoArguments
	}
	for decoder.More() {
		var e argument
		if err := decoder.Decode(&e); err != nil {
			return nil, errNoArguments
		}
		switch {
		case len(list) == stack.MaxArguments:
			return nil, errTooManyArguments
		case e.Type == "":
			return nil, params.Unprocessable("stack entry %d has no type: send {type, value}", len(list))
		case len(e.Value) == 0:
			return nil, params.Unprocessable("stack entry %d of type %s has no value: send {type, value}", len(list), stack.Shortened(e.Type))
		case e.Type != "num" && e.Type != "cell" && e.Type != "slice":
			return nil, unsupported(e.Type)
		}
		list = append(list, e)
	}
	return list, nil
}

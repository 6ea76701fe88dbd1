package v3

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/http"
	"strconv"
	"strings"

	"tonscribe/query/openapi"
	"tonscribe/query/params"
	v2 "tonscribe/query/v2"
)

var (
	errNoAddress, errNoMethod = missing("address is required"), missing("method is required")
	errBadAddress             = params.Unprocessable("failed to parse address")
	errBadSeqno               = params.Unprocessable("seqno must be a positive integer of 32 bits")
	errTooManyArguments       = params.Unprocessable("stack has more than %d entries", mostArguments)
	errNoArguments            = params.Unprocessable("stack must be an array of {type, value}")
)

// mostArguments is how many values a caller may put on the stack.
const mostArguments = 1 << 12

type runGetMethodAnswer struct {
	GasUsed  int64        `json:"gas_used"`
	ExitCode int64        `json:"exit_code"`
	Stack    []plainEntry `json:"stack"`
}

var runGetMethod = &Endpoint{
	Path: "/runGetMethod", Tag: nodeAccess, Summary: "Run a get-method",
	Description: "Runs a get-method on the proven state of an account. Every exit code is a success of the request.",
	Body: []Field{
		{Name: "address", Type: "string", Required: true, Description: "contract"},
		{Name: "method", Type: "string", Required: true, Description: "name of the get-method, or its number as text"},
		{Name: "stack", Type: "array", Description: "arguments {type, value} of the types num, cell and slice, the first at the bottom"},
		{Name: "seqno", Type: "integer", Description: "masterchain block on whose state the method runs; the newest by default"},
	},
	Result: openapi.TypeOf[runGetMethodAnswer](), Node: true,
	Errors: []params.Error{
		*errNoAddress, *errNoMethod, *unsupported("<type>"), *errBadAddress, *errBadSeqno, *errTooManyArguments, refusedInside("failed to parse stack"),
		refusedInside("Invalid number: <text>"), refusedInside("Wrong type of number in stack entry"), refusedInside("invalid base64 encoded bytes: <reason>"),
		refusedInside("Empty <type>"), refusedInside("Result stack depth >= <limit>"),
	},
	serve: func(q *request) error {
		parameters, err := q.runParameters()
		if err != nil {
			return err
		}
		var result struct {
			GasUsed  int64        `json:"gas_used"`
			ExitCode int64        `json:"exit_code"`
			Stack    []typedEntry `json:"stack"`
		}
		if err := q.mustAsk("runGetMethodStd", parameters, &result); err != nil {
			return err
		}
		return q.put(runGetMethodAnswer{result.GasUsed, result.ExitCode, plainEntries(result.Stack)})
	},
}

func (q *request) runParameters() (map[string]json.RawMessage, error) {
	address, err := q.text("address")
	if err != nil {
		return nil, err
	}
	method, err := q.text("method")
	switch {
	case err != nil:
		return nil, err
	case address == "":
		return nil, errNoAddress
	case method == "":
		return nil, errNoMethod
	case !v2.IsAddress(address):
		return nil, errBadAddress
	}
	parameters := map[string]json.RawMessage{"address": quoted(address), "method": quoted(method)}
	if raw := q.sent["seqno"]; len(raw) > 0 && string(raw) != "null" {
		if n, err := strconv.ParseInt(string(raw), 10, 32); err != nil || n < 1 {
			return nil, errBadSeqno
		}
		parameters["seqno"] = raw
	}
	parameters["stack"], err = argumentsOf(q.sent["stack"])
	return parameters, err
}

// unsupported is the answer to a stack entry of another type.
func unsupported(kind string) *params.Error {
	return &params.Error{Status: http.StatusInternalServerError, Text: "unsupported stack parameter type: " + shortened(kind)}
}

// shortened is a text of the caller's in an answer.
func shortened(text string) string {
	const most = 100
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// argumentsOf turns {type, value} into the node layer's typed entries.
func argumentsOf(raw json.RawMessage) (json.RawMessage, error) {
	entries := []any{}
	if len(raw) == 0 || string(raw) == "null" {
		return json.Marshal(entries)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('[') {
		return nil, errNoArguments
	}
	for decoder.More() {
		var e struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		}
		if err := decoder.Decode(&e); err != nil {
			return nil, errNoArguments
		}
		if len(entries) == mostArguments {
			return nil, errTooManyArguments
		}
		switch {
		case e.Type == "":
			return nil, params.Unprocessable("stack entry %d has no type: send {type, value}", len(entries))
		case len(e.Value) == 0:
			return nil, params.Unprocessable("stack entry %d of type %s has no value: send {type, value}", len(entries), shortened(e.Type))
		}
		switch e.Type {
		case "num":
			entries = append(entries, map[string]any{"@type": "tvm.stackEntryNumber", "number": map[string]any{"number": e.Value}})
		case "cell":
			entries = append(entries, map[string]any{"@type": "tvm.stackEntryCell", "cell": map[string]any{"bytes": e.Value}})
		case "slice":
			entries = append(entries, map[string]any{"@type": "tvm.stackEntrySlice", "slice": map[string]any{"bytes": e.Value}})
		default:
			return nil, unsupported(e.Type)
		}
	}
	return json.Marshal(entries)
}

// typedEntry is an entry of the node layer's stack.
type typedEntry struct {
	Type   string `json:"@type"`
	Number struct {
		Number string `json:"number"`
	} `json:"number"`
	Cell  struct{ Bytes string }          `json:"cell"`
	Slice struct{ Bytes string }          `json:"slice"`
	Tuple struct{ Elements []typedEntry } `json:"tuple"`
	List  struct{ Elements []typedEntry } `json:"list"`
}

// plainEntry is an entry of this layer's; tuples and lists hold entries, all
// others a text.
type plainEntry struct {
	Type  string     `json:"type" enum:"num,cell,slice,tuple,list,unsupported"`
	Value plainValue `json:"value"`
}

type plainValue any

func plainEntries(list []typedEntry) []plainEntry {
	plain := make([]plainEntry, 0, len(list))
	for _, e := range list {
		plain = append(plain, e.plain())
	}
	return plain
}

func (e *typedEntry) plain() plainEntry {
	switch strings.TrimPrefix(e.Type, "tvm.stackEntry") {
	case "Number":
		return plainEntry{"num", hexNumber(e.Number.Number)}
	case "Cell":
		return plainEntry{"cell", e.Cell.Bytes}
	case "Slice":
		return plainEntry{"slice", e.Slice.Bytes}
	case "Tuple":
		return plainEntry{"tuple", plainEntries(e.Tuple.Elements)}
	case "List":
		return plainEntry{"list", plainEntries(e.List.Elements)}
	}
	return plainEntry{"unsupported", ""}
}

// hexNumber writes 0x1f and -0x1f.
func hexNumber(decimal string) string {
	n, ok := new(big.Int).SetString(decimal, 10)
	if !ok {
		return decimal
	}
	digits := n.Text(16)
	if n.Sign() < 0 {
		return "-0x" + digits[1:]
	}
	return "0x" + digits
}

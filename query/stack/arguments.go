// Package stack reads the arguments of get-methods out of JSON and writes what they
// leave, in the forms that the API has for both: pairs and typed entries of v2, plain
// entries of v3.
//
// Arguments are a stranger's: how many they are, how deep they are nested and how
// many cells they have is bounded here. Errors have the texts of the contract.
package stack

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/node"
	"tonscribe/query/params"
	"tonscribe/ton/tvm"
)

// The limits of what a caller puts on the stack: how many values, how deep they are
// nested (contract 2.32: depth 1024 in the library), and in how many parts of JSON,
// of which a spelt cell has six.
const (
	MaxArguments = 1 << 12
	maxNesting   = 1024
	maxParts     = 1 << 17
)

// The answers to what is no argument.
var (
	errNoStack = params.Unprocessable("Stack should be array")
	errStack   = params.Unprocessable("failed to parse stack")
	// ErrUnsupported answers an entry that the virtual machine has but no caller can
	// write.
	ErrUnsupported = &params.Error{Status: 500, Text: "INTERNAL: unsupported stack entry"}
)

// ErrLabel answers an entry with an unknown label.
func ErrLabel(label string) *params.Error {
	const statusNoServer = 542
	return &params.Error{Status: statusNoServer, Text: "Unsupported stack entry type: " + label}
}

// parsed is a JSON value that is well-formed. ok is false when it has more parts than
// anybody needs. Values that hold values of their own kind are parsed once: taking
// them apart level by level would scan the innermost ones as often as they are
// nested.
func parsed(raw json.RawMessage) (value any, ok bool) {
	parts := 0
	for _, c := range raw {
		if c == ',' || c == '[' || c == '{' {
			parts++
		}
	}
	if parts > maxParts {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return value, decoder.Decode(&value) == nil
}

// reader reads arguments; left is how many more there may be.
type reader struct{ left int }

func (r *reader) count(depth int) error {
	if r.left--; r.left < 0 || depth > maxNesting {
		return errStack
	}
	return nil
}

// list reads an array by element; bad answers what is none.
func (r *reader) list(value any, depth int, bad error, element func(any) (any, error)) ([]any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, bad
	}
	values := []any{}
	for _, e := range list {
		if err := r.count(depth); err != nil {
			return nil, err
		}
		read, err := element(e)
		if err != nil {
			return nil, err
		}
		values = append(values, read)
	}
	return values, nil
}

// Pairs reads an array of [label, value], the bottom of the stack first.
func Pairs(raw json.RawMessage) ([]any, error) { return read(raw, (*reader).pair) }

// Typed reads an array of typed entries, the bottom of the stack first.
func Typed(raw json.RawMessage) ([]any, error) {
	return read(raw, func(r *reader, value any) (any, error) { return r.entry(value, 0) })
}

func read(raw json.RawMessage, element func(*reader, any) (any, error)) ([]any, error) {
	value, ok := parsed(raw)
	if !ok {
		return nil, errStack
	}
	r := &reader{MaxArguments}
	return r.list(value, 0, errNoStack, func(value any) (any, error) { return element(r, value) })
}

// Plain reads a value of one of the kinds num, cell and slice.
func Plain(kind string, raw json.RawMessage) (any, error) {
	value, ok := parsed(raw)
	if !ok {
		return nil, errStack
	}
	if kind == "num" {
		return number(value)
	}
	return bag(bagLabels[kind], value, errStack)
}

// bagLabels are what texts call cells and slices.
var bagLabels = map[string]string{"cell": "tvm.Cell", "slice": "tvm.Slice"}

func (r *reader) pair(value any) (argument any, err error) {
	list, ok := value.([]any)
	if !ok {
		return nil, errNoStack
	}
	var label string
	if len(list) > 0 {
		if label, ok = list[0].(string); !ok {
			return nil, params.Unprocessable("Expected string as first element in stack entry")
		}
	}
	if len(list) > 1 {
		if argument, err = r.labelled(label, list[1]); err != nil {
			return nil, err
		}
	}
	if len(list) != 2 {
		return nil, params.Unprocessable("Expected 2 elements in stack entry, got: %d", len(list))
	}
	return argument, nil
}

func (r *reader) labelled(label string, value any) (any, error) {
	switch label {
	case "num", "int", "number", "integer":
		return number(value)
	case "tvm.Cell", "tvm.Slice":
		return bag(label, value, params.Unprocessable("Invalid %s, base64 string expected", label))
	case "cell", "slice":
		return cellOrBag(label, value)
	case "tuple", "tvm.Tuple":
		return r.named(value, "tvm.tuple", params.Unprocessable("Invalid tvm.Tuple, valid tvm_stackEntryTuple expected"))
	case "list", "tvm.List":
		return r.named(value, "tvm.list", params.Unprocessable("Invalid tvm.List, valid tvm_stackEntryList expected"))
	}
	return nil, ErrLabel(Shortened(label))
}

// named reads a tuple or a list that says its @type; bad answers one with what is no
// entry in it, too.
func (r *reader) named(value any, kind string, bad error) (any, error) {
	argument, err := r.sequence(value, kind, true, 0, bad)
	if errors.Is(err, errStack) {
		err = bad
	}
	return argument, err
}

// Shortened is a text of the caller's in an answer.
func Shortened(text string) string {
	const maxLength = 100
	if len(text) > maxLength {
		return strings.ToValidUTF8(text[:maxLength], "") + "…"
	}
	return text
}

// cellOrBag reads {"bytes"}, and a cell that is spelt out.
func cellOrBag(label string, value any) (any, error) {
	bad := params.Unprocessable("Invalid %s, object with field bytes expected", label)
	left := node.MaxCells
	c, err := cellOf(value, 0, &left)
	if err != nil && !errors.Is(err, errNoBits) {
		return nil, bad
	}
	if bytes, ok := value.(map[string]any)["bytes"]; ok {
		return bag(label, bytes, bad)
	}
	switch {
	case err != nil:
		return nil, bad
	case label == "slice":
		return sliceOf(c)
	}
	return c, nil
}

// number reads a JSON integer, and a text in decimal or hex with 0x or -0x.
func number(value any) (any, error) {
	switch v := value.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return big.NewInt(n), nil
		}
	case string:
		if n, ok := parseBig(v); ok {
			return n, nil
		}
		return nil, params.Unprocessable("Invalid number: %s", Shortened(v))
	}
	return nil, params.Unprocessable("Wrong type of number in stack entry")
}

// maxDigits is more digits than 257 bits need.
const maxDigits = 80

func parseBig(text string) (*big.Int, bool) {
	digits, negative := strings.CutPrefix(text, "-")
	base := 10
	if rest, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = rest, 16
	}
	if digits == "" || len(digits) > maxDigits || strings.ContainsAny(digits, "+-_") {
		return nil, false
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return nil, false
	}
	if negative {
		n.Neg(n)
	}
	// Of 257 bits, as the virtual machine has them.
	return n, n.BitLen() <= 256 || n.Sign() < 0 && n.BitLen() == 257 && n.TrailingZeroBits() == 256
}

// bag reads a bag of cells in base64; bad answers what is no text.
func bag(label string, value any, bad error) (any, error) {
	text, ok := value.(string)
	switch {
	case !ok:
		return nil, bad
	case text == "":
		return nil, params.Unprocessable("Empty %s", label)
	}
	data, err := ParseBase64(text)
	if err != nil {
		return nil, params.Unprocessable("invalid base64 encoded bytes: %s", err)
	}
	c, err := node.ParseBoC(data, "bytes")
	if err != nil || !strings.HasSuffix(strings.ToLower(label), "slice") {
		return c, err
	}
	return sliceOf(c)
}

var toStandard = strings.NewReplacer("-", "+", "_", "/")

// ParseBase64 reads base64 of either alphabet.
func ParseBase64(text string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(toStandard.Replace(text))
}

func sliceOf(c *cell.Cell) (any, error) {
	s, err := c.BeginParse()
	if err != nil {
		return nil, &params.Error{Status: 500, Text: "INVALID_BAG_OF_CELLS: bytes"}
	}
	return s, nil
}

func (r *reader) typed(value any, depth int, bad error) ([]any, error) {
	return r.list(value, depth, bad, func(e any) (any, error) { return r.entry(e, depth) })
}

// entryMembers are the members of typed entries and the @type that each belongs to.
var entryMembers = []struct{ name, kind string }{
	{"number", "tvm.stackEntryNumber"}, {"cell", "tvm.stackEntryCell"}, {"slice", "tvm.stackEntrySlice"},
	{"tuple", "tvm.stackEntryTuple"}, {"list", "tvm.stackEntryList"},
}

// entry reads an entry of contract 2.0: an @type and the member that belongs to it.
// Members of another @type must be readable, too, or null.
func (r *reader) entry(value any, depth int) (argument any, err error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errStack
	}
	kind, found := object["@type"].(string)
	if !found {
		return nil, errStack
	}
	found = false
	for _, m := range entryMembers {
		if object[m.name] == nil {
			continue
		}
		read, err := r.member(m.name, object[m.name], depth)
		if err != nil {
			return nil, err
		}
		if m.kind == kind {
			argument, found = read, true
		}
	}
	switch {
	case kind == "tvm.stackEntryUnsupported":
		return nil, ErrUnsupported
	case !found:
		return nil, errStack
	}
	return argument, nil
}

func (r *reader) member(name string, value any, depth int) (any, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errStack
	}
	switch name {
	case "number":
		if n, ok := object["number"]; ok {
			return number(n)
		}
		return nil, errStack
	case "tuple", "list":
		return r.sequence(object, "tvm."+name, false, depth, errStack)
	}
	bytes, ok := object["bytes"]
	if !ok {
		bytes = ""
	}
	return bag(bagLabels[name], bytes, errStack)
}

// sequence reads {"@type","elements"} as a tuple, or as a list: pairs that end in
// null. It need not say its @type unless it is named.
func (r *reader) sequence(value any, kind string, named bool, depth int, bad error) (any, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, bad
	}
	name, there := object["@type"]
	text, isText := name.(string)
	if there && !isText {
		return nil, bad
	}
	elements, err := r.typed(object["elements"], depth+1, bad)
	switch {
	case err != nil:
		return nil, err
	case kind == "tvm.tuple" && len(elements) > 255:
		return nil, errStack
	case named && text != kind:
		return nil, bad
	case kind == "tvm.list":
		var list any
		for i := len(elements) - 1; i >= 0; i-- {
			list = tvm.Tuple{elements[i], list}
		}
		return list, nil
	}
	return tvm.Tuple(elements), nil
}

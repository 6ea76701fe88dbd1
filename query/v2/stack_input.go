package v2

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/tvm"
)

// mostArguments is how many values a caller may put on the stack, and
// deepestArgument how deep they may be nested.
const (
	mostArguments   = 1 << 12
	deepestArgument = 1024
)

// legacyArguments reads an array of [label, value] pairs, the bottom first.
func legacyArguments(raw json.RawMessage) ([]any, error) {
	var pairs [][]json.RawMessage
	if err := json.Unmarshal(raw, &pairs); err != nil {
		return nil, unprocessable("Stack should be array")
	}
	if len(pairs) > mostArguments {
		return nil, unprocessable("failed to parse stack")
	}
	values := make([]any, 0, len(pairs))
	for _, pair := range pairs {
		if len(pair) != 2 {
			return nil, unprocessable("Expected 2 elements in stack entry, got: %d", len(pair))
		}
		if pair[0][0] != '"' {
			return nil, unprocessable("Expected string as first element in stack entry")
		}
		value, err := legacyArgument(plain(pair[0]), pair[1])
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

func legacyArgument(label string, raw json.RawMessage) (any, error) {
	switch label {
	case "num", "int", "number", "integer":
		return number(raw)
	case "tvm.Cell", "tvm.Slice":
		if raw[0] != '"' {
			return nil, unprocessable("Invalid %s, base64 string expected", label)
		}
		return bagArgument(label, plain(raw), label == "tvm.Slice")
	case "cell", "slice":
		var object struct {
			Bytes *string `json:"bytes"`
		}
		if raw[0] != '{' || json.Unmarshal(raw, &object) != nil || object.Bytes == nil {
			return spelt(label, raw)
		}
		return bagArgument(label, *object.Bytes, label == "slice")
	case "tuple", "tvm.Tuple":
		return elementsArgument(raw, "tvm.tuple", "Invalid tvm.Tuple, valid tvm_stackEntryTuple expected")
	case "list", "tvm.List":
		return elementsArgument(raw, "tvm.list", "Invalid tvm.List, valid tvm_stackEntryList expected")
	}
	return nil, &Error{Status: statusNoServer, Text: "Unsupported stack entry type: " + shortened(label)}
}

// number reads a JSON integer, and a text in decimal or hex with 0x or -0x.
func number(raw json.RawMessage) (any, error) {
	if raw[0] != '"' {
		n, ok := new(big.Int).SetString(string(raw), 10)
		if !ok || !n.IsInt64() {
			return nil, unprocessable("Wrong type of number in stack entry")
		}
		return n, nil
	}
	text := plain(raw)
	n, ok := parseBig(text)
	if !ok {
		return nil, unprocessable("Invalid number: %s", shortened(text))
	}
	return n, nil
}

// longestNumber is more digits than 257 bits need.
const longestNumber = 80

func parseBig(text string) (*big.Int, bool) {
	digits, negative := strings.CutPrefix(text, "-")
	base := 10
	if rest, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = rest, 16
	}
	if digits == "" || len(digits) > longestNumber || strings.ContainsAny(digits, "+-_") {
		return nil, false
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return nil, false
	}
	if negative {
		n.Neg(n)
	}
	return n, fits257(n)
}

// fits257 says whether the virtual machine has such an integer.
func fits257(n *big.Int) bool {
	return n.BitLen() <= 256 || n.Sign() < 0 && n.BitLen() == 257 && n.TrailingZeroBits() == 256
}

func bagArgument(label, text string, slice bool) (any, error) {
	if text == "" {
		return nil, unprocessable("Empty %s", label)
	}
	data, err := parseBytes(text)
	if err != nil {
		return nil, unprocessable("invalid base64 encoded bytes: %s", err)
	}
	c, err := parseBag(data, "bytes")
	if err != nil || !slice {
		return c, err
	}
	return openBag(c)
}

func openBag(c *cell.Cell) (any, error) {
	s, err := c.BeginParse()
	if err != nil {
		return nil, failed("INVALID_BAG_OF_CELLS: bytes")
	}
	return s, nil
}

// spelt reads a cell in the form {"data":{"b64","len"},"refs":[…]}.
func spelt(label string, raw json.RawMessage) (any, error) {
	c, err := parseSpelt(raw)
	if err != nil {
		return nil, unprocessable("Invalid %s, object with field bytes expected", label)
	}
	if label == "slice" {
		return openBag(c)
	}
	return c, nil
}

// speltCell is what callers send for a cell.
type speltCell struct {
	Data struct {
		Base64 []byte `json:"b64"`
		Len    *int   `json:"len"`
	} `json:"data"`
	Refs []*speltCell `json:"refs"`
}

func parseSpelt(raw json.RawMessage) (*cell.Cell, error) {
	var spelt *speltCell
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&spelt); err != nil {
		return nil, err
	}
	left := mostCells
	return spelt.build(0, &left)
}

func (s *speltCell) build(depth int, left *int) (*cell.Cell, error) {
	if *left--; s == nil || s.Data.Len == nil || depth > mostDepth || *left < 0 {
		return nil, fmt.Errorf("cell at depth %d", depth)
	}
	bits := *s.Data.Len
	if bits < 0 || bits > 1023 || len(s.Data.Base64) < (bits+7)/8 || len(s.Refs) > 4 {
		return nil, fmt.Errorf("cell of %d bits and %d references", bits, len(s.Refs))
	}
	b := cell.BeginCell()
	if err := b.StoreSlice(s.Data.Base64, uint(bits)); err != nil {
		return nil, err
	}
	for _, ref := range s.Refs {
		child, err := ref.build(depth+1, left)
		if err != nil {
			return nil, err
		}
		if err := b.StoreRef(child); err != nil {
			return nil, err
		}
	}
	return b.EndCell(), nil
}

// typedArguments reads an array of typed entries, the bottom first.
func typedArguments(raw json.RawMessage) ([]any, error) {
	left := mostArguments
	return typedElements(raw, 0, &left)
}

func typedElements(raw json.RawMessage, depth int, left *int) ([]any, error) {
	var entries []json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil || depth > deepestArgument {
		return nil, unprocessable("Stack should be array")
	}
	values := make([]any, 0, len(entries))
	for _, entry := range entries {
		if *left--; *left < 0 {
			return nil, unprocessable("failed to parse stack")
		}
		value, err := typedArgument(entry, depth, left)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// errUnsupported answers an entry that the virtual machine has but no caller can
// write.
var errUnsupported = failed("INTERNAL: unsupported stack entry")

// typedEntry is any of the entries of contract 2.0.
type typedEntry struct {
	Type   string `json:"@type"`
	Number *struct {
		Number json.RawMessage `json:"number"`
	} `json:"number"`
	Cell  *typedBytes    `json:"cell"`
	Slice *typedBytes    `json:"slice"`
	Tuple *typedSequence `json:"tuple"`
	List  *typedSequence `json:"list"`
}

type typedBytes struct {
	Bytes string `json:"bytes"`
}

type typedSequence struct {
	Type     string          `json:"@type"`
	Elements json.RawMessage `json:"elements"`
}

func typedArgument(raw json.RawMessage, depth int, left *int) (any, error) {
	var e typedEntry
	if raw[0] != '{' || json.Unmarshal(raw, &e) != nil {
		return nil, unprocessable("failed to parse stack")
	}
	switch {
	case e.Type == "tvm.stackEntryNumber" && e.Number != nil && len(e.Number.Number) > 0:
		return number(e.Number.Number)
	case e.Type == "tvm.stackEntryCell" && e.Cell != nil:
		return bagArgument("tvm.Cell", e.Cell.Bytes, false)
	case e.Type == "tvm.stackEntrySlice" && e.Slice != nil:
		return bagArgument("tvm.Slice", e.Slice.Bytes, true)
	case e.Type == "tvm.stackEntryTuple" && e.Tuple != nil:
		return sequenceArgument(e.Tuple.Elements, "tvm.tuple", depth, left)
	case e.Type == "tvm.stackEntryList" && e.List != nil:
		return sequenceArgument(e.List.Elements, "tvm.list", depth, left)
	case e.Type == "tvm.stackEntryUnsupported":
		return nil, errUnsupported
	}
	return nil, unprocessable("failed to parse stack")
}

// elementsArgument reads {"@type","elements"}.
func elementsArgument(raw json.RawMessage, kind, text string) (any, error) {
	var sequence typedSequence
	if raw[0] != '{' || json.Unmarshal(raw, &sequence) != nil || sequence.Type != kind || len(sequence.Elements) == 0 {
		return nil, unprocessable("%s", text)
	}
	left := mostArguments
	return sequenceArgument(sequence.Elements, kind, 0, &left)
}

// sequenceArgument makes a tuple, or a list: pairs that end in null.
func sequenceArgument(raw json.RawMessage, kind string, depth int, left *int) (any, error) {
	if len(raw) == 0 {
		return nil, unprocessable("failed to parse stack")
	}
	elements, err := typedElements(raw, depth+1, left)
	if err != nil {
		return nil, err
	}
	if kind == "tvm.tuple" {
		if len(elements) > 255 {
			return nil, unprocessable("failed to parse stack")
		}
		return tvm.Tuple(elements), nil
	}
	var list any
	for i := len(elements) - 1; i >= 0; i-- {
		list = tvm.Tuple{elements[i], list}
	}
	return list, nil
}

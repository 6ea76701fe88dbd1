package v2

import (
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/node"
	"tonscribe/ton/tvm"
)

// The limits of what a caller puts on the stack: how many values, and how deep
// they are nested (contract 2.32: depth 1024 in the library).
const (
	MaxArguments    = 1 << 12
	deepestArgument = 1024
)

var (
	errNoStack  = unprocessable("Stack should be array")
	errBadStack = unprocessable("failed to parse stack")
)

// argumentReader reads a stack in one pass; left is how many more values it may
// have.
type argumentReader struct {
	*jsonReader
	left int
}

func newArgumentReader(raw json.RawMessage) *argumentReader {
	return &argumentReader{newJSONReader(raw), MaxArguments}
}

func (r *argumentReader) count(depth int) error {
	if r.left--; r.left < 0 || depth > deepestArgument {
		return errBadStack
	}
	return nil
}

// legacyArguments reads an array of [label, value] pairs, the bottom first.
func legacyArguments(raw json.RawMessage) ([]any, error) {
	r := newArgumentReader(raw)
	values := []any{}
	err := r.array(errNoStack, func() error {
		if err := r.count(0); err != nil {
			return err
		}
		value, err := r.pair()
		values = append(values, value)
		return err
	})
	return values, notNull(err, errNoStack)
}

// notNull makes bad of null.
func notNull(err, bad error) error {
	if errors.Is(err, errNull) {
		return bad
	}
	return err
}

// pair reads [label, value].
func (r *argumentReader) pair() (value any, err error) {
	n := 0
	var label string
	err = r.array(errNoStack, func() (err error) {
		switch n++; n {
		case 1:
			bad := unprocessable("Expected string as first element in stack entry")
			label, err = r.text(bad)
			return notNull(err, bad)
		case 2:
			value, err = r.legacyArgument(label)
			return err
		}
		return r.skip(errBadStack)
	})
	if err == nil && n != 2 {
		err = unprocessable("Expected 2 elements in stack entry, got: %d", n)
	}
	return value, notNull(err, errNoStack)
}

func (r *argumentReader) legacyArgument(label string) (any, error) {
	switch label {
	case "num", "int", "number", "integer":
		return r.number(errBadStack)
	case "tvm.Cell", "tvm.Slice":
		bad := unprocessable("Invalid %s, base64 string expected", label)
		text, err := r.text(bad)
		if err != nil {
			return nil, notNull(err, bad)
		}
		return bagArgument(label, text, label == "tvm.Slice")
	case "cell", "slice":
		return r.cellArgument(label)
	case "tuple", "tvm.Tuple":
		return r.legacySequence("tvm.tuple", unprocessable("Invalid tvm.Tuple, valid tvm_stackEntryTuple expected"))
	case "list", "tvm.List":
		return r.legacySequence("tvm.list", unprocessable("Invalid tvm.List, valid tvm_stackEntryList expected"))
	}
	return nil, &Error{Status: statusNoServer, Text: "Unsupported stack entry type: " + shortened(label)}
}

// legacySequence reads a tuple or a list that must name its @type.
func (r *argumentReader) legacySequence(kind string, bad error) (any, error) {
	value, named, err := r.sequence(kind, 0, bad)
	if err == nil && named != kind {
		err = bad
	}
	return value, notNull(err, bad)
}

// cellArgument reads {"bytes"}, and a cell that is spelt out.
func (r *argumentReader) cellArgument(label string) (any, error) {
	bad := unprocessable("Invalid %s, object with field bytes expected", label)
	var bag *string
	spelt := speltReader{r.jsonReader, node.MaxCells}
	c, err := spelt.cell(0, func(key string) error {
		if key != "bytes" {
			return r.skip(bad)
		}
		text, err := r.text(bad)
		bag = &text
		return err
	})
	switch {
	case bag != nil && (err == nil || errors.Is(err, errNoBits)):
		return bagArgument(label, *bag, label == "slice")
	case err != nil:
		return nil, bad
	case label == "slice":
		return openBag(c)
	}
	return c, nil
}

// number reads an integer.
func (r *jsonReader) number(bad error) (any, error) {
	raw, err := r.raw(bad)
	if err != nil {
		return nil, err
	}
	return number(raw)
}

// number reads a JSON integer, and a text in decimal or hex with 0x or -0x.
func number(raw json.RawMessage) (any, error) {
	if raw[0] != '"' {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return nil, unprocessable("Wrong type of number in stack entry")
		}
		return big.NewInt(n), nil
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
	c, err := node.ParseBoC(data, "bytes")
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

// Argument reads a value of a kind, num, cell or slice, that a caller puts on the
// stack.
func Argument(kind string, raw json.RawMessage) (any, error) {
	r := newJSONReader(raw)
	if kind == "num" {
		return r.number(errBadStack)
	}
	text, err := r.text(errBadStack)
	if err != nil {
		return nil, notNull(err, errBadStack)
	}
	return bagArgument(typedLabels[kind], text, kind == "slice")
}

// typedLabels are what texts call the kinds of bags.
var typedLabels = map[string]string{"cell": "tvm.Cell", "slice": "tvm.Slice"}

// typedArguments reads an array of typed entries, the bottom first.
func typedArguments(raw json.RawMessage) ([]any, error) {
	values, err := newArgumentReader(raw).elements(0, errNoStack)
	return values, notNull(err, errNoStack)
}

// elements reads an array of typed entries; bad answers what is none.
func (r *argumentReader) elements(depth int, bad error) ([]any, error) {
	values := []any{}
	err := r.array(bad, func() error {
		if err := r.count(depth); err != nil {
			return err
		}
		value, err := r.typedArgument(depth)
		values = append(values, value)
		return notNull(err, errBadStack)
	})
	return values, err
}

// errUnsupported answers an entry that the virtual machine has but no caller can
// write.
var errUnsupported = failed("INTERNAL: unsupported stack entry")

// typedMembers are the members of typed entries by the @type that has them.
var typedMembers = map[string]string{
	"tvm.stackEntryNumber": "number", "tvm.stackEntryCell": "cell", "tvm.stackEntrySlice": "slice",
	"tvm.stackEntryTuple": "tuple", "tvm.stackEntryList": "list",
}

// typedArgument reads an entry of contract 2.0: an @type and the member that
// belongs to it, in any order.
func (r *argumentReader) typedArgument(depth int) (any, error) {
	var kind string
	members := map[string]any{}
	err := r.object(errBadStack, func(key string) (err error) {
		var value any
		switch key {
		case "@type":
			kind, err = r.text(errBadStack)
			return err
		case "number":
			value, err = r.typedNumber()
		case "cell", "slice":
			value, err = r.typedBag(typedLabels[key], key == "slice")
		case "tuple":
			value, _, err = r.sequence("tvm.tuple", depth, errBadStack)
		case "list":
			value, _, err = r.sequence("tvm.list", depth, errBadStack)
		default:
			return r.skip(errBadStack)
		}
		if errors.Is(err, errNull) {
			return nil // a member of another @type
		}
		members[key] = value
		return err
	})
	if err != nil {
		return nil, err
	}
	if kind == "tvm.stackEntryUnsupported" {
		return nil, errUnsupported
	}
	value, ok := members[typedMembers[kind]]
	if !ok {
		return nil, errBadStack
	}
	return value, nil
}

// typedNumber reads {"number"}.
func (r *argumentReader) typedNumber() (value any, err error) {
	there := false
	err = r.object(errBadStack, func(key string) (err error) {
		if key != "number" {
			return r.skip(errBadStack)
		}
		there = true
		value, err = r.number(errBadStack)
		return err
	})
	if err == nil && !there {
		err = errBadStack
	}
	return value, err
}

// typedBag reads {"bytes"}.
func (r *argumentReader) typedBag(label string, slice bool) (any, error) {
	var bag string
	err := r.object(errBadStack, func(key string) (err error) {
		if key != "bytes" {
			return r.skip(errBadStack)
		}
		bag, err = r.text(errBadStack)
		return notNull(err, errBadStack)
	})
	if err != nil {
		return nil, err
	}
	return bagArgument(label, bag, slice)
}

// sequence reads {"@type","elements"} as a tuple, or as a list: pairs that end
// in null. named is the @type that stands there.
func (r *argumentReader) sequence(kind string, depth int, bad error) (value any, named string, err error) {
	var elements []any
	err = r.object(bad, func(key string) (err error) {
		switch key {
		case "@type":
			named, err = r.text(bad)
		case "elements":
			elements, err = r.elements(depth+1, bad)
		default:
			return r.skip(bad)
		}
		return notNull(err, bad)
	})
	switch {
	case err != nil:
		return nil, named, err
	case elements == nil:
		return nil, named, bad
	case kind != "tvm.tuple":
		var list any
		for i := len(elements) - 1; i >= 0; i-- {
			list = tvm.Tuple{elements[i], list}
		}
		return list, named, nil
	case len(elements) > 255:
		return nil, named, errBadStack
	}
	return tvm.Tuple(elements), named, nil
}

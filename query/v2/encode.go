package v2

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// typed marks a struct as one with an @type; its tag is the value, in which
// {ns} stands for the namespace of the configuration. Every @type of an answer
// is written by encoder.structure and nowhere else.
type typed struct{}

// namespaceMark is replaced by the namespace.
const namespaceMark = "{ns}"

// TypeName is the @type of a struct type, empty when it has none.
func TypeName(t reflect.Type, namespace string) string {
	for i := range t.NumField() {
		if f := t.Field(i); f.Type == reflect.TypeFor[typed]() {
			return strings.ReplaceAll(f.Tag.Get("type"), namespaceMark, namespace)
		}
	}
	return ""
}

// encoder writes results as JSON. The forms are those of contract 1.11: bytes
// and hashes are base64, cells bags of cells with a checksum, big integers and
// what is tagged as a string decimal texts. Keys of absent values are left out.
type encoder struct {
	namespace string
	plans     sync.Map // reflect.Type → *plan
}

// plan is how a struct is written.
type plan struct {
	typeName string
	fields   []field
}

type field struct {
	index    []int
	name     string
	text     bool // numbers as texts
	optional bool
}

func (e *encoder) planOf(t reflect.Type) *plan {
	if p, ok := e.plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{typeName: TypeName(t, e.namespace)}
	p.fields = fieldsOf(t, nil)
	e.plans.Store(t, p)
	return p
}

// fieldsOf lists the members of a struct; those of embedded ones are its own.
func fieldsOf(t reflect.Type, path []int) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(path), i)
		if f.Anonymous {
			fields = append(fields, fieldsOf(f.Type, index)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		fields = append(fields, field{
			index: index, name: name,
			text: strings.Contains(options, "string"), optional: strings.Contains(options, "omitempty"),
		})
	}
	return fields
}

// encode appends a result of at most most bytes.
func (e *encoder) encode(dst []byte, result any, most int) ([]byte, error) {
	w := resultWriter{encoder: e, most: len(dst) + most}
	dst, err := w.value(dst, reflect.ValueOf(result), false)
	if err == nil {
		err = w.check(dst)
	}
	return dst, err
}

// resultWriter writes one result.
type resultWriter struct {
	*encoder
	most int
}

// check ends a result that is too long. It is looked at before each value, so
// that no more than one value is written in vain.
func (e *resultWriter) check(dst []byte) error {
	if len(dst) > e.most {
		return tooLarge(e.most)
	}
	return nil
}

func (e *resultWriter) value(dst []byte, v reflect.Value, text bool) ([]byte, error) {
	if err := e.check(dst); err != nil {
		return dst, err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return e.pointed(dst, v, text)
	case reflect.Struct:
		return e.structure(dst, v)
	case reflect.String:
		return appendText(dst, v.String()), nil
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		return quoted(dst, text, func(dst []byte) []byte { return strconv.AppendInt(dst, v.Int(), 10) }), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return quoted(dst, text, func(dst []byte) []byte { return strconv.AppendUint(dst, v.Uint(), 10) }), nil
	case reflect.Array, reflect.Slice:
		return e.sequence(dst, v, text)
	case reflect.Map:
		return e.dictionary(dst, v)
	}
	return dst, fmt.Errorf("results have no form for %s", v.Type())
}

func quoted(dst []byte, text bool, write func([]byte) []byte) []byte {
	if !text {
		return write(dst)
	}
	return append(write(append(dst, '"')), '"')
}

// pointed writes what a pointer or an interface holds.
func (e *resultWriter) pointed(dst []byte, v reflect.Value, text bool) ([]byte, error) {
	if v.IsNil() {
		// Only cells and numbers may be nil where the key is not left out.
		switch v.Type() {
		case reflect.TypeFor[*cell.Cell]():
			return append(dst, `""`...), nil
		case reflect.TypeFor[*big.Int]():
			return append(dst, `"0"`...), nil
		}
		return dst, fmt.Errorf("a result holds nothing for %s", v.Type())
	}
	switch x := v.Interface().(type) {
	case *cell.Cell:
		return appendBase64(dst, bag(x)), nil
	case *big.Int:
		return quoted(dst, true, func(dst []byte) []byte { return x.Append(dst, 10) }), nil
	}
	return e.value(dst, v.Elem(), text)
}

func (e *resultWriter) structure(dst []byte, v reflect.Value) (_ []byte, err error) {
	p := e.planOf(v.Type())
	dst = append(dst, '{')
	first := true
	if p.typeName != "" {
		dst = appendText(append(dst, `"@type":`...), p.typeName)
		first = false
	}
	for _, f := range p.fields {
		member := v.FieldByIndex(f.index)
		if f.optional && member.IsZero() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, '"'), f.name...), `":`...)
		if dst, err = e.value(dst, member, f.text); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (e *resultWriter) sequence(dst []byte, v reflect.Value, text bool) (_ []byte, err error) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		if v.Kind() == reflect.Slice {
			return appendBase64(dst, v.Bytes()), nil
		}
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), v)
		return appendBase64(dst, b), nil
	}
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = e.value(dst, v.Index(i), text); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// dictionary writes keys in their order.
func (e *resultWriter) dictionary(dst []byte, v reflect.Value) (_ []byte, err error) {
	keys := make([]string, 0, v.Len())
	for _, key := range v.MapKeys() {
		keys = append(keys, key.String())
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, key), ':')
		if dst, err = e.value(dst, v.MapIndex(reflect.ValueOf(key)), false); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendBase64(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendText appends a JSON string. Comments in messages come from anybody:
// what is no UTF-8 is replaced; <, > and & stay as they are.
func appendText(dst []byte, s string) []byte {
	simple := true
	for i := 0; i < len(s) && simple; i++ {
		simple = s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\'
	}
	if simple {
		return append(append(append(dst, '"'), s...), '"')
	}
	var out strings.Builder
	writer := json.NewEncoder(&out)
	writer.SetEscapeHTML(false)
	_ = writer.Encode(s) // a string always has a form
	return append(dst, strings.TrimSuffix(out.String(), "\n")...)
}

// bag serialises a cell as the node library does.
func bag(c *cell.Cell) []byte { return c.ToBOCWithOptions(cell.BOCSerializeOptions{WithCRC32C: true}) }

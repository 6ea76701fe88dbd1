package api

import (
	"cmp"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/openapi"
)

// The kinds of members. Their functions get the value of a row; nil stands for one
// that has none yet.

func member[R any](name string, k kind, schema func(*openapi.Components) openapi.Object) Member[R] {
	return Member[R]{name: name, schema: schema, step: step[R]{kind: k, key: `,"` + name + `":`}}
}

// valued is a member whose value a function appends.
func valued[R, V any](name string, schema func(*openapi.Components) openapi.Object, get func(R) V, write func([]byte, V) []byte) Member[R] {
	return Written(name, schema, func(w *Writer, row R) bool {
		w.JSON = write(w.JSON, get(row))
		return true
	})
}

// maybe is valued for values that may not be there.
func maybe[R, V any](name string, schema func(*openapi.Components) openapi.Object, get func(R) *V, write func([]byte, V) []byte) Member[R] {
	return Written(name, schema, func(w *Writer, row R) bool {
		v := get(row)
		if v != nil {
			w.JSON = write(w.JSON, *v)
		}
		return v != nil
	})
}

func ofBytes[R any](name string, k kind, form string, get func(R) []byte) Member[R] {
	if get == nil {
		k = asNull
	}
	m := member[R](name, k, formOf(form))
	m.bytes = get
	return m
}

func formOf(name string) func(*openapi.Components) openapi.Object {
	return func(c *openapi.Components) openapi.Object { return c.Form(name) }
}

func plain(pairs ...any) func(*openapi.Components) openapi.Object {
	return func(*openapi.Components) openapi.Object { return openapi.Schema(pairs...) }
}

// Hash is 256 bits as base64.
func Hash[R any](name string, get func(R) []byte) Member[R] {
	return ofBytes(name, asBytes, "Hash", get)
}

// BoC is a bag of cells as it is.
func BoC[R any](name string, get func(R) []byte) Member[R] {
	return ofBytes(name, asBytes, "BOC", get)
}

// PlainBoC is a bag of cells without its CRC-32C.
func PlainBoC[R any](name string, get func(R) []byte) Member[R] {
	return BoC(name, func(row R) []byte { return WithoutCRC(get(row)) })
}

// HashOrEmpty is 256 bits as base64, an empty text where there are none.
func HashOrEmpty[R any](name string, get func(R) []byte) Member[R] {
	return ofBytes(name, asBase64, "Hash", get)
}

// Bytes is any bytes as base64, empty where there are none.
func Bytes[R any](name string, get func(R) []byte) Member[R] {
	return ofBytes(name, asBase64, "Bytes", get)
}

// Cell is a cell as a bag of cells with its CRC-32C, empty for nil.
func Cell[R any](name string, get func(R) *cell.Cell) Member[R] {
	return ofBytes(name, asBase64, "BOC", func(row R) []byte {
		if c := get(row); c != nil {
			return c.ToBOCWithOptions(cell.BOCSerializeOptions{WithCRC32C: true})
		}
		return nil
	})
}

// Address is an address, which belongs into the address book.
func Address[R any](name string, get func(R) []byte) Member[R] {
	return ofBytes(name, asAddress, "Address", get)
}

// Party is an address of a token transfer, addr_none where it has none.
func Party[R any](name string, get func(R) []byte) Member[R] {
	m := ofBytes(name, asParty, "", get)
	m.schema = plain("type", "string")
	return m
}

// Addresses is a list of addresses.
func Addresses[R any](name string, get func(R) [][]byte) Member[R] {
	return Written(name, func(c *openapi.Components) openapi.Object {
		return openapi.Schema("type", "array", "items", c.Form("Address"))
	}, func(w *Writer, row R) bool {
		w.JSON = AppendList(w.JSON, get(row), func(dst, a []byte) []byte {
			w.Book.Add(a)
			return AppendAddress(dst, a)
		})
		return true
	})
}

// Amount is a magnitude as a decimal text.
func Amount[R any](name string, get func(R) []byte) Member[R] {
	return ofBytes(name, asAmount, "Decimal", get)
}

// Magnitude is a magnitude as a number.
func Magnitude[R any](name string, get func(R) []byte) Member[R] {
	m := ofBytes(name, asMagnitude, "", get)
	m.schema = plain("type", "integer")
	return m
}

// integer is what getters of numbers return.
type integer interface {
	uint32 | uint64 | int32 | int64
}

// Decimal is a number as a decimal text.
func Decimal[R any, N uint32 | uint64](name string, get func(R) N) Member[R] {
	m := member[R](name, asDecimal64, formOf("Decimal"))
	switch get := any(get).(type) {
	case func(R) uint32:
		m.kind, m.u32 = asDecimal32, get
	case func(R) uint64:
		m.u64 = get
	}
	return m
}

// SignedDecimal is a number as a decimal text.
func SignedDecimal[R any](name string, get func(R) int64) Member[R] {
	return valued(name, formOf("Decimal"), get, func(dst []byte, n int64) []byte {
		return append(strconv.AppendInt(append(dst, '"'), n, 10), '"')
	})
}

// BigDecimal is a number of any size as a decimal text, 0 for nil.
func BigDecimal[R any](name string, get func(R) *big.Int) Member[R] {
	return valued(name, formOf("Decimal"), get, func(dst []byte, n *big.Int) []byte {
		return append(cmp.Or(n, new(big.Int)).Append(append(dst, '"'), 10), '"')
	})
}

// DecimalIf is a number that may not be there.
func DecimalIf[R any](name string, get func(R) *uint64) Member[R] {
	return maybe(name, formOf("Decimal"), get, AppendDecimal)
}

// DecimalText is a decimal that is a text already.
func DecimalText[R any](name string, get func(R) string) Member[R] {
	m := member[R](name, asWord, formOf("Decimal"))
	m.text = get
	return m
}

func number[R any, N integer](name string, get func(R) N, schema func(*openapi.Components) openapi.Object) Member[R] {
	m := member[R](name, asUnsigned64, schema)
	switch get := any(get).(type) {
	case func(R) uint32:
		m.kind, m.u32 = asUnsigned32, get
	case func(R) int32:
		m.kind, m.i32 = asSigned32, get
	case func(R) int64:
		return valued(name, schema, get, appendNumber[int64])
	case func(R) uint64:
		m.u64 = get
	}
	return m
}

func appendNumber[N integer](dst []byte, n N) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// The forms of numbers.
var (
	int32Form  = plain("type", "integer", "format", "int32")
	uint32Form = plain("type", "integer", "minimum", 0, "maximum", uint64(math.MaxUint32))
)

// Int32 is a number of 32 bits.
func Int32[R any, N integer](name string, get func(R) N) Member[R] {
	return number(name, get, int32Form)
}

// Int64 is a number of 64 bits.
func Int64[R any, N integer](name string, get func(R) N) Member[R] {
	return number(name, get, plain("type", "integer", "format", "int64"))
}

// Uint32 is a number of 32 bits without a sign.
func Uint32[R any, N integer](name string, get func(R) N) Member[R] {
	return number(name, get, uint32Form)
}

// UnixTime is seconds since 1970.
func UnixTime[R any, N integer](name string, get func(R) N) Member[R] {
	return number(name, get, formOf("UnixTime"))
}

// Int32If is a number of 32 bits that may not be there.
func Int32If[R any, N integer](name string, get func(R) *N) Member[R] {
	return maybe(name, int32Form, get, appendNumber)
}

// Uint32If is a number of 32 bits without a sign that may not be there.
func Uint32If[R any, N integer](name string, get func(R) *N) Member[R] {
	return maybe(name, uint32Form, get, appendNumber)
}

// Bool is true or false.
func Bool[R any](name string, get func(R) bool) Member[R] {
	m := member[R](name, asFlag, plain("type", "boolean"))
	m.flag = get
	return m
}

// BoolIf is true or false, or not there.
func BoolIf[R any](name string, get func(R) *bool) Member[R] {
	return maybe(name, plain("type", "boolean"), get, strconv.AppendBool)
}

// Text is any text.
func Text[R any](name string, get func(R) string) Member[R] {
	m := member[R](name, asText, plain("type", "string"))
	m.text = get
	return m
}

// Texts is a list of texts, null for nil.
func Texts[R any](name string, get func(R) []string) Member[R] {
	return valued(name, plain("type", "array", "items", openapi.Schema("type", "string")), get, AppendTexts)
}

// Words are texts that need no escape: those of an enumeration, by its numbers.
type Words []string

// Of returns the word of a number, empty for one that is newer than this program.
func (words Words) Of(n int32) string {
	if n < 0 || int(n) >= len(words) {
		return ""
	}
	return words[n]
}

// Enum is the word of a number.
func Enum[R any, N ~int32](name string, words Words, get func(R) N) Member[R] {
	return Word(name, words, func(row R) string { return words.Of(int32(get(row))) })
}

// Word is one of some words.
func Word[R any](name string, words Words, get func(R) string) Member[R] {
	m := member[R](name, asWord, plain("type", "string", "enum", slices.DeleteFunc(slices.Clone([]string(words)), func(word string) bool { return word == "" })))
	m.text = get
	return m
}

// Shard is a shard's 64 bits.
func Shard[R any](name string, get func(R) uint64) Member[R] {
	return valued(name, formOf("Shard"), get, AppendShard)
}

// Opcode is the first 32 bits of a body.
func Opcode[R any](name string, get func(R) *uint32) Member[R] {
	return maybe(name, formOf("Opcode"), get, AppendOpcode)
}

// Object is a row of another shape. Where there is says false it has none.
func Object[R, S any](name string, form Form[S], get func(R) S, there func(R) bool) Member[R] {
	shape, _ := form.(*Shape[S]) // called as such it is faster
	m := Written(name, form.Schema, func(w *Writer, row R) bool {
		switch {
		case there != nil && !there(row):
			return false
		case shape != nil:
			shape.Write(w, get(row))
		default:
			form.Write(w, get(row))
		}
		return true
	})
	if shape != nil {
		m.names = func(book Book, row R) {
			if there == nil || there(row) {
				shape.Names(book, get(row))
			}
		}
	}
	return m
}

// PartOf is a row of another shape that lies in the row, nil where it has none.
func PartOf[R, S any](name string, form Form[*S], get func(R) *S) Member[R] {
	return Object(name, form, get, func(row R) bool { return get(row) != nil })
}

// List is a list of rows of another shape, each made of an element of the row's list.
func List[R, E, S any](name string, shape Form[S], get func(R) []E, of func(E) S) Member[R] {
	m := Written(name, ListOf(shape), func(w *Writer, row R) bool {
		WriteList(w, shape, get(row), of)
		return true
	})
	if shape, is := shape.(*Shape[S]); is {
		m.names = func(book Book, row R) {
			for _, e := range get(row) {
				shape.Names(book, of(e))
			}
		}
	}
	return m
}

// ListOf is the schema of a list.
func ListOf(rows openapi.Described) func(*openapi.Components) openapi.Object {
	return func(c *openapi.Components) openapi.Object {
		return openapi.Schema("type", "array", "items", rows.Schema(c))
	}
}

// WriteList appends a list of rows, each made of an element of a list.
func WriteList[E, S any](w *Writer, shape Form[S], list []E, of func(E) S) {
	w.JSON = append(w.JSON, '[')
	for i, e := range list {
		if w.Full() {
			return
		}
		if i > 0 {
			w.JSON = append(w.JSON, ',')
		}
		shape.Write(w, of(e))
	}
	w.JSON = append(w.JSON, ']')
}

// Same is for lists whose elements are rows as they are.
func Same[R any](row R) R { return row }

// Rows is a list of rows of a form.
type Rows[R any] struct{ Of Form[R] }

// Schema implements openapi.Described.
func (r Rows[R]) Schema(c *openapi.Components) openapi.Object { return ListOf(r.Of)(c) }

// Write implements Form.
func (r Rows[R]) Write(w *Writer, rows []R) { WriteList(w, r.Of, rows, Same[R]) }

// Const is always the same JSON value.
func Const[R any](name, value string) Member[R] {
	return Written(name, plain("const", json.RawMessage(value)), func(w *Writer, _ R) bool {
		w.JSON = append(w.JSON, value...)
		return true
	})
}

// Written is a value that a function of its own appends; false stands for none.
func Written[R any](name string, schema func(*openapi.Components) openapi.Object, write func(*Writer, R) bool) Member[R] {
	m := member[R](name, asWritten, schema)
	m.write = write
	return m
}

// Doc describes the member.
func (m Member[R]) Doc(text string) Member[R] {
	m.doc = text
	return m
}

// Null says that the member may be null.
func (m Member[R]) Null() Member[R] {
	m.nullable = true
	return m
}

// Optional leaves the member out where it has no value.
func (m Member[R]) Optional() Member[R] {
	m.optional, m.omitEmpty = true, true
	return m
}

// If leaves the member out of rows that are not of a kind.
func (m Member[R]) If(is func(R) bool) Member[R] {
	m.optional, m.when = true, is
	return m
}

// NullUnless makes the member null in rows that are not of a kind.
func (m Member[R]) NullUnless(is func(R) bool) Member[R] {
	m.nullable, m.elseNull, m.when = true, true, is
	return m
}

// InBook adds the address to the book where the member itself is left out, too.
func (m Member[R]) InBook() Member[R] {
	m.inBook = true
	return m
}

// Asked leaves the member out unless the request asks for a part.
func (m Member[R]) Asked(part Part) Member[R] {
	m.optional, m.part = true, part
	return m
}

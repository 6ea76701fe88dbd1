package api

import (
	"strconv"
	"strings"

	"tonscribe/query/openapi"
	"tonscribe/ton/address"
)

// Shape is the form of the JSON objects that rows of a type are written as.
type Shape[R any] struct {
	name    string
	steps   []step[R] // those of the members, side by side
	members []Member[R]
	// typeName is the @type, empty without one.
	typeName string
}

// New makes a shape of members in their order. The name is its component's in the
// OpenAPI document.
func New[R any](name string, members ...Member[R]) *Shape[R] {
	s := &Shape[R]{name: name, members: members}
	for _, m := range members {
		m.always = m.part == 0 && m.when == nil
		s.steps = append(s.steps, m.step)
	}
	return s
}

// Typed makes a shape whose first member is its @type, in which {ns} stands for the
// namespace of the Writer.
func Typed[R any](name, typeName string, members ...Member[R]) *Shape[R] {
	first := Written("@type", func(c *openapi.Components) openapi.Object {
		return openapi.Schema("const", inNamespace(typeName, c.Namespace))
	}, func(w *Writer, _ R) bool {
		w.JSON = append(append(append(w.JSON, '"'), inNamespace(typeName, w.Namespace)...), '"')
		return true
	})
	s := New(name, append([]Member[R]{first}, members...)...)
	s.typeName = typeName
	return s
}

func inNamespace(typeName, namespace string) string {
	return strings.Replace(typeName, "{ns}", namespace, 1)
}

// Member is a member of a shape: how it is described, and how it is written.
type Member[R any] struct {
	name, doc string
	schema    func(*openapi.Components) openapi.Object
	optional  bool // described as one that may be missing
	step[R]
}

// step is how a member is written.
type step[R any] struct {
	key       string // with the comma before it and the colon behind it
	kind      kind
	part      Part
	always    bool // neither part nor when counts
	omitEmpty bool // left out without a value
	nullable  bool // described as one that may be null
	elseNull  bool // null where when is false, not left out
	inBook    bool // of the address book even where when is false

	// The function that gets the value, by its kind.
	bytes func(R) []byte
	text  func(R) string
	flag  func(R) bool
	u64   func(R) uint64
	u32   func(R) uint32
	i32   func(R) int32
	write func(*Writer, R) bool // false when there is nothing to write
	names func(Book, R)         // adds the addresses in a value that write appends, nil for none
	when  func(R) bool          // nil for always
}

// kind says how a value is written.
type kind uint8

const (
	asNull kind = iota
	asBytes
	asBase64
	asAddress
	asParty
	asAmount
	asMagnitude
	asDecimal64
	asDecimal32
	asUnsigned64
	asUnsigned32
	asSigned32
	asFlag
	asWord
	asText
	asWritten
)

// Write appends a row.
func (s *Shape[R]) Write(w *Writer, row R) {
	dst := append(w.JSON, '{')
	for i := range s.steps {
		m := &s.steps[i]
		written := true
		if !m.always {
			if m.part&^w.Parts != 0 {
				continue
			}
			if written = m.when == nil || m.when(row); !written && !m.elseNull {
				if m.inBook {
					w.Book.Add(m.bytes(row))
				}
				continue
			}
		}
		before := len(dst)
		if dst[before-1] == '{' {
			dst = append(dst, m.key[1:]...)
		} else {
			dst = append(dst, m.key...)
		}
		if !written {
			dst = append(dst, null...)
			continue
		}
		there := true
		switch m.kind {
		case asBytes:
			v := m.bytes(row)
			dst, there = AppendBytes(dst, v), len(v) > 0
		case asBase64:
			v := m.bytes(row)
			dst, there = AppendBase64(dst, v), len(v) > 0
		case asAddress:
			v := m.bytes(row)
			w.Book.Add(v)
			dst, there = AppendAddress(dst, v), len(v) == address.Size
		case asParty:
			v := m.bytes(row)
			w.Book.addParty(v)
			if len(v) == address.Size {
				dst = AppendAddress(dst, v)
			} else {
				dst = append(dst, `"addr_none"`...)
			}
		case asAmount:
			dst = AppendAmount(dst, m.bytes(row))
		case asMagnitude:
			dst = AppendInteger(dst, m.bytes(row))
		case asDecimal64:
			dst = AppendDecimal(dst, m.u64(row))
		case asDecimal32:
			dst = AppendDecimal(dst, uint64(m.u32(row)))
		case asUnsigned64:
			v := m.u64(row)
			dst, there = strconv.AppendUint(dst, v, 10), v != 0
		case asUnsigned32:
			v := m.u32(row)
			dst, there = strconv.AppendUint(dst, uint64(v), 10), v != 0
		case asSigned32:
			v := m.i32(row)
			dst, there = strconv.AppendInt(dst, int64(v), 10), v != 0
		case asFlag:
			dst = strconv.AppendBool(dst, m.flag(row))
		case asWord:
			v := m.text(row)
			if there = v != ""; there || !m.nullable {
				dst = append(append(append(dst, '"'), v...), '"')
			} else {
				dst = append(dst, null...)
			}
		case asText:
			v := m.text(row)
			if there = v != ""; there || !m.nullable || m.elseNull {
				dst = AppendText(dst, v)
			} else {
				dst = append(dst, null...)
			}
		case asWritten:
			w.JSON = dst
			there = m.write(w, row)
			if dst = w.JSON; !there && !m.omitEmpty {
				dst = append(dst, null...)
			}
		default:
			dst, there = append(dst, null...), false
		}
		if !there && m.omitEmpty {
			dst = dst[:before]
		}
	}
	w.JSON = append(dst, '}')
}

// Names adds to a book the addresses of a row that are written when no part is asked for,
// but those in texts, and in lists and objects that are written by functions of their own.
func (s *Shape[R]) Names(book Book, row R) {
	for i := range s.steps {
		m := &s.steps[i]
		switch {
		case m.part != 0 || !m.inBook && m.when != nil && !m.when(row):
		case m.kind == asAddress || m.kind == asParty:
			book.Add(m.bytes(row))
		case m.names != nil:
			m.names(book, row)
		}
	}
}

// Append appends a row for those that need no address book.
func (s *Shape[R]) Append(dst []byte, row R) []byte {
	w := Writer{JSON: dst}
	s.Write(&w, row)
	w.Done()
	return w.JSON
}

// Schema implements openapi.Described.
func (s *Shape[R]) Schema(c *openapi.Components) openapi.Object {
	return c.Component(s, s.name, func() openapi.Object {
		properties, required := openapi.Object{}, []string{}
		for i := range s.members {
			m := &s.members[i]
			schema := m.schema(c)
			if m.nullable {
				schema = openapi.OrNull(schema)
			}
			properties = properties.With(m.name, schema.WithText("description", m.doc))
			if !m.optional {
				required = append(required, m.name)
			}
		}
		schema := openapi.Schema("type", "object", "properties", properties)
		if len(required) > 0 {
			schema = schema.With("required", required)
		}
		return schema
	})
}

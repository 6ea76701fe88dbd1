package openapi

import (
	"encoding/json"
	"fmt"
	"go/token"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Types says how the Go types of a layer's answers look as JSON. Fields are
// those with a json tag; omitempty says that a key may be missing, string that a
// number is a text. The tag doc describes a field, enum lists its values, const
// is its only value as JSON, null says that it may be null. Embedded structs'
// fields are the struct's own.
type Types struct {
	// Null says that a nil pointer is written as null. Without it no value is.
	Null bool
	// Forms are types that have a form of their own, by its name in forms.go.
	Forms map[reflect.Type]string
	// OneOf are the types that an interface may hold.
	OneOf map[reflect.Type][]reflect.Type
	// Pairs are arrays of two, a label and a value whose type goes with it.
	Pairs map[reflect.Type][]Pair
	// TypeName is the @type of a struct, empty for one without. May be nil.
	TypeName func(reflect.Type) string
}

// Pair is a label and the type of the value that goes with it.
type Pair struct {
	Label string
	Value reflect.Type
}

// Described is what describes itself: a Go type, or a shape of package api.
type Described interface {
	// Schema returns the schema, a reference where it has a name.
	Schema(*Components) Object
}

type goType struct{ reflect.Type }

// TypeOf describes values of a Go type as Types says.
func TypeOf[T any]() Described { return goType{reflect.TypeFor[T]()} }

// Schema implements Described.
func (t goType) Schema(c *Components) Object { return c.of(t.Type) }

// Components gathers the components of one document.
type Components struct {
	*Types
	forms      map[string]Object
	components map[string]Object
	owners     map[string]any
	order      []string
	err        error
}

func newComponents(t *Types) *Components {
	return &Components{Types: t, forms: namedForms(), components: map[string]Object{}, owners: map[string]any{}}
}

func reference(name string) Object { return object("$ref", "#/components/schemas/"+name) }

// of is the schema of a type: a reference where the type has a name.
func (s *Components) of(t reflect.Type) Object {
	if name, ok := s.Forms[t]; ok {
		return s.Form(name)
	}
	switch {
	case t == reflect.TypeFor[any](), t == reflect.TypeFor[Anything](), t == reflect.TypeFor[json.RawMessage]():
		return object()
	case t.PkgPath() == reflect.TypeFor[Hash]().PkgPath():
		return s.Form(t.Name())
	}
	if pairs, ok := s.Pairs[t]; ok {
		return s.component(t, func() Object { return s.pairs(pairs) })
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.pointer(t)
	case reflect.Interface:
		return s.component(t, func() Object { return s.union(t) })
	case reflect.Struct:
		return s.component(t, func() Object { return s.structure(t) })
	case reflect.Slice, reflect.Array:
		return object("type", "array", "items", s.of(t.Elem()))
	case reflect.Map:
		return object("type", "object", "additionalProperties", s.of(t.Elem()))
	case reflect.String:
		return object("type", "string")
	case reflect.Bool:
		return object("type", "boolean")
	}
	return s.number(t)
}

func (s *Components) number(t reflect.Type) Object {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return object("type", "integer", "format", "int64")
	case reflect.Int32:
		return object("type", "integer", "format", "int32")
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return object("type", "integer", "minimum", 0, "maximum", uint64(1)<<t.Bits()-1)
	case reflect.Uint64:
		return object("type", "integer", "minimum", 0, "maximum", uint64(math.MaxUint64))
	}
	s.fail("no schema for %s", t)
	return object()
}

func (s *Components) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// Form is a reference to a form of forms.go.
func (s *Components) Form(name string) Object {
	schema, ok := s.forms[name]
	if !ok {
		s.fail("no form %s", name)
	}
	s.put(name, func() Object { return schema })
	return reference(name)
}

func (s *Components) pointer(t reflect.Type) Object {
	if t == reflect.TypeFor[*big.Int]() {
		return s.Form("Decimal")
	}
	inner := s.of(t.Elem())
	if !s.Null {
		return inner
	}
	return OrNull(inner)
}

// OrNull lets a schema's values be null too.
func OrNull(schema Object) Object {
	if len(schema) == 0 {
		return schema
	}
	if kind, ok := schema[0].Value.(string); ok && schema[0].Name == "type" {
		nullable := append(Object{{"type", []string{kind, "null"}}}, schema[1:]...)
		for i, m := range nullable {
			if list, ok := m.Value.([]string); ok && m.Name == "enum" {
				values := make([]any, 0, len(list)+1)
				for _, text := range list {
					values = append(values, text)
				}
				nullable[i].Value = append(values, nil)
			}
		}
		return nullable
	}
	if kinds, ok := schema[0].Value.([]string); ok && schema[0].Name == "type" {
		return append(Object{{"type", append(slices.Clone(kinds), "null")}}, schema[1:]...)
	}
	if list, ok := schema[0].Value.([]Object); ok && schema[0].Name == "anyOf" {
		return append(Object{{"anyOf", append(slices.Clone(list), object("type", "null"))}}, schema[1:]...)
	}
	return object("anyOf", []Object{schema, object("type", "null")})
}

// component declares a type once and refers to it. Types without a name stand
// where they are used.
func (s *Components) component(t reflect.Type, describe func() Object) Object {
	if t.Name() == "" {
		return describe()
	}
	return s.Component(t, componentName(t), describe)
}

// Component declares what an owner describes once, under a name, and refers to it.
func (s *Components) Component(owner any, name string, describe func() Object) Object {
	if other, ok := s.owners[name]; ok && other != owner {
		s.fail("%v and %v would both be %s", other, owner, name)
	}
	s.owners[name] = owner
	s.put(name, describe)
	return reference(name)
}

func (s *Components) put(name string, describe func() Object) {
	if _, ok := s.components[name]; ok {
		return
	}
	s.components[name] = nil // for types that hold themselves
	s.components[name] = describe()
	s.order = append(s.order, name)
}

// componentName is a type's name in the document.
func componentName(t reflect.Type) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, t.Name())
	if !token.IsExported(name) {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	return name
}

// union is one of the types that an interface may hold.
func (s *Components) union(t reflect.Type) Object {
	types, ok := s.OneOf[t]
	if !ok {
		s.fail("what %s holds is not declared", t)
	}
	list, mapping := []Object{}, Object{}
	for _, member := range types {
		schema := s.of(member)
		list = append(list, schema)
		if name := s.typeName(member); name != "" {
			mapping = mapping.With(name, schema[0].Value)
		}
	}
	union := object("oneOf", list)
	if len(mapping) == len(list) {
		union = union.With("discriminator", object("propertyName", "@type", "mapping", mapping))
	}
	return union
}

func (s *Components) pairs(pairs []Pair) Object {
	list := []Object{}
	for _, p := range pairs {
		list = append(list, object("prefixItems", []Object{object("const", p.Label), s.of(p.Value)}))
	}
	return object("type", "array", "minItems", 2, "maxItems", 2, "oneOf", list)
}

func (s *Components) typeName(t reflect.Type) string {
	if s.TypeName == nil || t.Kind() != reflect.Struct {
		return ""
	}
	return s.TypeName(t)
}

func (s *Components) structure(t reflect.Type) Object {
	properties, required := Object{}, []string{}
	if name := s.typeName(t); name != "" {
		properties, required = properties.With("@type", object("const", name)), append(required, "@type")
	}
	s.fields(t, &properties, &required)
	schema := object("type", "object", "properties", properties)
	if len(required) > 0 {
		schema = schema.With("required", required)
	}
	return schema
}

func (s *Components) fields(t reflect.Type, properties *Object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			s.fields(f.Type, properties, required)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		*properties = properties.With(name, s.field(f, options, optional))
		if !optional {
			*required = append(*required, name)
		}
	}
}

func (s *Components) field(f reflect.StructField, options string, optional bool) Object {
	t := f.Type
	if optional && t.Kind() == reflect.Pointer && t != reflect.TypeFor[*big.Int]() {
		if _, ok := s.Forms[t]; !ok {
			t = t.Elem() // nil is left out
		}
	}
	schema := s.of(t)
	if strings.Contains(options, "string") && t.Kind() != reflect.String {
		schema = s.Form("Decimal")
	}
	if values := f.Tag.Get("enum"); values != "" {
		plain := object("type", "string", "enum", strings.Split(values, ","))
		if schema = plain; f.Type.Kind() == reflect.Pointer && s.Null && !optional {
			schema = OrNull(plain)
		}
	}
	if value := f.Tag.Get("const"); value != "" {
		schema = object("const", json.RawMessage(value))
	}
	if f.Tag.Get("null") != "" {
		schema = OrNull(schema)
	}
	return schema.WithText("description", f.Tag.Get("doc"))
}

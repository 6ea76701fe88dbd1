package openapi

import (
	"fmt"
	"slices"
)

// Described is what describes itself: the shapes of package api.
type Described interface {
	// Schema returns the schema, a reference where it has a name.
	Schema(*Components) Object
}

// Components gathers the components of one document.
type Components struct {
	// Namespace is the namespace part of @type.
	Namespace  string
	components map[string]Object
	owners     map[string]any
	order      []string
	err        error
}

func reference(name string) Object { return Schema("$ref", "#/components/schemas/"+name) }

func (s *Components) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// Form is a reference to a form of forms.go.
func (s *Components) Form(name string) Object {
	schema, ok := forms[name]
	if !ok {
		s.fail("no form %s", name)
	}
	s.put(name, func() Object { return schema })
	return reference(name)
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
		return append(Object{{"anyOf", append(slices.Clone(list), Schema("type", "null"))}}, schema[1:]...)
	}
	return Schema("anyOf", []Object{schema, Schema("type", "null")})
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

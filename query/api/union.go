package api

import "tonscribe/query/openapi"

// Union is the form of values that have one of several forms.
type Union[R any] struct {
	name  string
	cases []Case[R]
}

// Case is a form that some of the values of a Union have.
type Case[R any] struct {
	form     openapi.Described
	typeName string
	write    func(*Writer, R) bool
}

// OneOf makes a union of cases; the first that a value fits counts. The name is its
// component's in the OpenAPI document.
func OneOf[R any](name string, cases ...Case[R]) *Union[R] { return &Union[R]{name, cases} }

// Is is the case of the values that have a Go type.
func Is[R, S any](form Form[S]) Case[R] {
	return When(form, func(row R) (S, bool) {
		s, ok := any(row).(S)
		return s, ok
	})
}

// When is the case of the values that a function takes.
func When[R, S any](form Form[S], as func(R) (S, bool)) Case[R] {
	c := Case[R]{form: form, write: func(w *Writer, row R) bool {
		s, ok := as(row)
		if ok {
			form.Write(w, s)
		}
		return ok
	}}
	if shape, ok := form.(*Shape[S]); ok {
		c.typeName = shape.typeName
	}
	return c
}

// Add adds cases to a union that its own cases hold.
func (u *Union[R]) Add(cases ...Case[R]) { u.cases = append(u.cases, cases...) }

// Write implements Form.
func (u *Union[R]) Write(w *Writer, row R) {
	for i := range u.cases {
		if u.cases[i].write(w, row) {
			return
		}
	}
	w.JSON = append(w.JSON, null...)
}

// Schema implements openapi.Described.
func (u *Union[R]) Schema(c *openapi.Components) openapi.Object {
	return c.Component(u, u.name, func() openapi.Object {
		list, mapping := []openapi.Object{}, openapi.Object{}
		for _, one := range u.cases {
			schema := one.form.Schema(c)
			list = append(list, schema)
			if one.typeName != "" {
				mapping = mapping.With(inNamespace(one.typeName, c.Namespace), schema[0].Value)
			}
		}
		if len(mapping) < len(list) { // nothing says which, and a value may have several of the forms
			return openapi.Schema("anyOf", list)
		}
		return openapi.Schema("oneOf", list, "discriminator", openapi.Schema("propertyName", "@type", "mapping", mapping))
	})
}

type text struct{}

// Via is the form of what a function makes of a row.
func Via[R, S any](form Form[S], as func(R) S) Form[R] { return via[R, S]{form, as} }

type via[R, S any] struct {
	Form[S]
	as func(R) S
}

// Write implements Form.
func (v via[R, S]) Write(w *Writer, row R) { v.Form.Write(w, v.as(row)) }

// String is the form of a text that is an answer, or an element of a list, by itself.
var String Form[string] = text{}

// Schema implements openapi.Described.
func (text) Schema(*openapi.Components) openapi.Object { return openapi.Schema("type", "string") }

// Write implements Form.
func (text) Write(w *Writer, s string) { w.JSON = AppendText(w.JSON, s) }

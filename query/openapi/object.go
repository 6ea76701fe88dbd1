package openapi

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Object is a JSON object whose members keep their order, so that readers find
// them as they were declared.
type Object []Member

// Member is a name and a value.
type Member struct {
	Name  string
	Value any
}

// Schema makes an object, most often a schema, of names and values in turn.
func Schema(pairs ...any) Object {
	o := make(Object, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		o = append(o, Member{pairs[i].(string), pairs[i+1]})
	}
	return o
}

// Members is the schema of an object whose members are all there but for those behind a
// question mark.
func Members(members ...any) Object {
	properties, required := Object{}, []string{}
	for i := 0; i < len(members); i += 2 {
		name, optional := strings.CutSuffix(members[i].(string), "?")
		if !optional {
			required = append(required, name)
		}
		properties = properties.With(name, members[i+1])
	}
	return Schema("type", "object", "properties", properties, "required", required)
}

// With adds a member.
func (o Object) With(name string, value any) Object { return append(o, Member{name, value}) }

// WithText adds a member unless its text is empty.
func (o Object) WithText(name, text string) Object {
	if text == "" {
		return o
	}
	return o.With(name, text)
}

// Text returns the member with a name when it is a text, empty otherwise.
func (o Object) Text(name string) string {
	for _, m := range o {
		if m.Name == name {
			text, _ := m.Value.(string)
			return text
		}
	}
	return ""
}

// MarshalJSON is json.Marshaler's.
func (o Object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	err := write(&out, o)
	return out.Bytes(), err
}

// write appends a value; <, > and & stay as they are. It goes into objects itself: what
// a Marshaler returns is parsed again on each level.
func write(out *bytes.Buffer, value any) error {
	switch value := value.(type) {
	case Object:
		return writeEach(out, '{', '}', value, func(m Member) error {
			if err := write(out, m.Name); err != nil {
				return err
			}
			out.WriteByte(':')
			return write(out, m.Value)
		})
	case []Object:
		return writeEach(out, '[', ']', value, func(o Object) error { return write(out, o) })
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the encoder's line feed
	return nil
}

func writeEach[T any](out *bytes.Buffer, begin, end byte, list []T, one func(T) error) error {
	out.WriteByte(begin)
	for i, each := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := one(each); err != nil {
			return err
		}
	}
	out.WriteByte(end)
	return nil
}

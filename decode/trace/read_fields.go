package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"tonscribe/schema/record"
)

// members are those of a JSON object.
type members map[string]json.RawMessage

// names says what members are called whose fields have other names.
type names map[protoreflect.Name]string

// fill fills in the fields of a record that are values, each from the member of its name.
func (in members) fill(m proto.Message, other names) error {
	r := m.ProtoReflect()
	fields := r.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		name, is := other[f.Name()]
		if !is {
			name = string(f.Name())
		}
		text, there := in[name]
		if !there || string(text) == "null" || f.IsList() || f.Message() != nil {
			continue
		}
		v, err := valueOf(f, text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Set(f, v)
	}
	return nil
}

// phase is a record of a transaction's phase, nil where there is none.
func phase[M any, P interface {
	*M
	proto.Message
}](in members, other names) (*M, error) {
	if in == nil {
		return nil, nil
	}
	p := new(M)
	return p, in.fill(P(p), other)
}

// within is fill from an object that is a member; without it nothing is filled in.
func (in members) within(name string, m proto.Message, other names) error {
	var inner members
	if text, there := in[name]; there {
		if err := unmarshal(text, &inner); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return inner.fill(m, other)
}

// currencies reads the member of a name.
func (in members) currencies(name string) ([]*record.ExtraCurrency, error) {
	var c currencies
	if text, there := in[name]; there {
		if err := unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return c.record()
}

// valueOf reads a field's value.
func valueOf(f protoreflect.FieldDescriptor, text []byte) (v protoreflect.Value, err error) {
	switch f.Kind() {
	case protoreflect.BoolKind:
		var is bool
		err = unmarshal(text, &is)
		return protoreflect.ValueOfBool(is), err
	case protoreflect.EnumKind:
		var s string
		err = unmarshal(text, &s)
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(max(slices.Index(words[f.Enum().Name()], s), 0))), err
	case protoreflect.BytesKind:
		var h hash
		err = h.UnmarshalJSON(text)
		return protoreflect.ValueOfBytes(h), err
	}
	var n number
	if err := n.UnmarshalJSON(text); err != nil {
		return v, err
	}
	switch f.Kind() {
	case protoreflect.Sint32Kind:
		if int64(n) < math.MinInt32 || int64(n) > math.MaxInt32 {
			return v, fmt.Errorf("%d is out of range", int64(n))
		}
		return protoreflect.ValueOfInt32(int32(n)), nil
	case protoreflect.Uint32Kind:
		u, err := limited(n)
		return protoreflect.ValueOfUint32(u), err
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(n)), nil
	}
	return v, fmt.Errorf("fields of kind %s are not read", f.Kind())
}

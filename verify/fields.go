package verify

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// firstField finds the first field in which two records of one type differ, with
// its path and both values; no path when they are equal.
func firstField(a, b proto.Message) (path, aValue, bValue string) {
	return fieldOf("", a.ProtoReflect(), b.ProtoReflect())
}

func fieldOf(at string, a, b protoreflect.Message) (path, aValue, bValue string) {
	fields := a.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		name := at + string(f.Name())
		switch {
		case a.Has(f) != b.Has(f):
			return name, oneField(a, f), oneField(b, f)
		case !a.Has(f):
			continue
		case f.IsList():
			path, aValue, bValue = listOf(name, f, a.Get(f).List(), b.Get(f).List())
		case f.Message() != nil:
			path, aValue, bValue = fieldOf(name+".", a.Get(f).Message(), b.Get(f).Message())
		case !a.Get(f).Equal(b.Get(f)):
			path, aValue, bValue = name, oneField(a, f), oneField(b, f)
		}
		if path != "" {
			return path, aValue, bValue
		}
	}
	return "", "", ""
}

func listOf(name string, f protoreflect.FieldDescriptor, a, b protoreflect.List) (path, aValue, bValue string) {
	for i := range min(a.Len(), b.Len()) {
		element := fmt.Sprintf("%s[%d]", name, i)
		if f.Message() != nil {
			if path, aValue, bValue = fieldOf(element+".", a.Get(i).Message(), b.Get(i).Message()); path != "" {
				return path, aValue, bValue
			}
			continue
		}
		if !a.Get(i).Equal(b.Get(i)) {
			return element, valueText(a.Get(i)), valueText(b.Get(i))
		}
	}
	if a.Len() != b.Len() {
		return name, fmt.Sprintf("%d of them", a.Len()), fmt.Sprintf("%d of them", b.Len())
	}
	return "", "", ""
}

func oneField(m protoreflect.Message, f protoreflect.FieldDescriptor) string {
	switch {
	case !m.Has(f) && (f.HasPresence() || f.IsList()):
		return "unset"
	case f.IsList():
		return fmt.Sprintf("%d of them", m.Get(f).List().Len())
	}
	return valueText(m.Get(f))
}

// longValue is where a value is cut.
const longValue = 200

func valueText(v protoreflect.Value) string {
	var text string
	switch x := v.Interface().(type) {
	case []byte:
		text = fmt.Sprintf("%x", x)
	case protoreflect.Message:
		text = fmt.Sprint(x.Interface())
	default:
		text = fmt.Sprint(x)
	}
	if text == "" {
		return "empty"
	}
	if len(text) > longValue {
		return fmt.Sprintf("%s… (%d characters)", text[:longValue], len(text))
	}
	return text
}

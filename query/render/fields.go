package render

import (
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"tonscribe/query/api"
	"tonscribe/schema/record"
)

// fields are the members that the fields of a record are: of the same names, in the same
// order, of kinds by their types, of which count is that of uint32. Rows have them where
// has is nil or holds, and an optional one where it is set. Fields with some names are for
// the shape to declare.
func fields[R proto.Message](has func(R) bool, count func(string, func(R) uint32) api.Member[R], without ...string) (list []api.Member[R]) {
	var none R
	described := none.ProtoReflect().Descriptor().Fields()
	for i := range described.Len() {
		f := described.Get(i)
		name := string(f.Name())
		if slices.Contains(without, name) {
			continue
		}
		m := field(name, count)
		switch {
		case f.HasPresence():
			m = m.If(func(row R) bool { return (has == nil || has(row)) && row.ProtoReflect().Has(f) })
		case has != nil:
			m = m.If(has)
		}
		list = append(list, m)
	}
	return list
}

// field is one of them. It calls the getter that the record has for it.
func field[R proto.Message](name string, count func(string, func(R) uint32) api.Member[R]) api.Member[R] {
	getter := "Get"
	for word := range strings.SplitSeq(name, "_") {
		getter += strings.ToUpper(word[:1]) + word[1:]
	}
	method, _ := reflect.TypeFor[R]().MethodByName(getter)
	switch get := method.Func.Interface().(type) {
	case func(R) bool:
		return api.Bool(name, get)
	case func(R) int32:
		return api.Int32(name, get)
	case func(R) uint32:
		return count(name, get)
	case func(R) uint64:
		return api.Decimal(name, get)
	case func(R) []byte:
		return api.Hash(name, get)
	case func(R) record.StatusChange:
		return api.Enum(name, statusChanges, get)
	default:
		panic(getter + " is of no kind of member")
	}
}

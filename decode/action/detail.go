package action

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"

	"tonscribe/schema/record"
)

// The types of details beside those of Go. How a detail is written follows from
// the type of its field:
//
//	Address                  address, null for nil
//	*big.Int, *uint64        decimal text, null for nil
//	uint64                   decimal text
//	int64, *int64            number, null for nil
//	bool, *bool              true or false, null for nil
//	string, *string          text, null for nil
//	Opcode (pointer)         0x and eight digits
//	BoC                      base64, null for nil
//	Currencies               object of id to decimal text
//	[]Address                list of addresses
//	struct (pointer, slice)  object of its details, list of such
type (
	// Opcode is the first 32 bits of a body.
	Opcode uint32
	// BoC is a bag of cells with its CRC-32C.
	BoC []byte
	// Currencies are amounts of extra currencies.
	Currencies []*record.ExtraCurrency
)

// Kind is how a detail is written.
type Kind uint8

// The kinds of details, with the type of their Value.
const (
	KindAddress    Kind = iota + 1 // Address
	KindDecimal                    // *big.Int
	KindUint                       // uint64
	KindNumber                     // int64
	KindBool                       // bool
	KindText                       // string
	KindOpcode                     // uint32
	KindBoC                        // BoC
	KindCurrencies                 // Currencies
	KindAddresses                  // []Address
	KindObject                     // []Value
	KindList                       // [][]Value
)

// Value is the value of a detail: of the type that its Kind says, nil for null.
type Value any

// Detail is a member of an action's details.
type Detail struct {
	Name string
	Kind Kind
	// Account reports whether the address is one of the action's accounts.
	Account bool
	// Optional details are left out where they are null.
	Optional bool
	// Details are those of an object, or of each object of a list.
	Details []Detail

	index []int // of the field
}

var (
	typeAddress    = reflect.TypeFor[Address]()
	typeAddresses  = reflect.TypeFor[[]Address]()
	typeBig        = reflect.TypeFor[*big.Int]()
	typeOpcode     = reflect.TypeFor[Opcode]()
	typeBoC        = reflect.TypeFor[BoC]()
	typeCurrencies = reflect.TypeFor[Currencies]()
)

// detailsOf reads the details of a struct from its fields: each exported one has a
// tag `detail:"name"`, behind the name "account" and "optional". Those of an embedded
// struct stand where it is embedded.
func detailsOf(t reflect.Type) []Detail {
	var list []Detail
	for _, f := range reflect.VisibleFields(t) {
		tag, ok := f.Tag.Lookup("detail")
		if !ok {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		d := Detail{Name: name, index: f.Index}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "":
			case "account":
				d.Account = true
			case "optional":
				d.Optional = true
			default:
				panic(fmt.Sprintf("%s.%s: no option %q", t, f.Name, option))
			}
		}
		d.Kind, d.Details = kindOf(f.Type)
		if d.Kind == 0 || d.Account && d.Kind != KindAddress && d.Kind != KindAddresses {
			panic(fmt.Sprintf("%s.%s: no detail is a %s", t, f.Name, f.Type))
		}
		list = append(list, d)
	}
	return list
}

func kindOf(t reflect.Type) (Kind, []Detail) {
	switch t {
	case typeAddress:
		return KindAddress, nil
	case typeAddresses:
		return KindAddresses, nil
	case typeBig:
		return KindDecimal, nil
	case typeBoC:
		return KindBoC, nil
	case typeCurrencies:
		return KindCurrencies, nil
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		return KindList, detailsOf(t.Elem())
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == typeOpcode:
		return KindOpcode, nil
	case t.Kind() == reflect.Struct:
		return KindObject, detailsOf(t)
	case t.Kind() == reflect.Uint64:
		return KindUint, nil
	case t.Kind() == reflect.Int64:
		return KindNumber, nil
	case t.Kind() == reflect.Bool:
		return KindBool, nil
	case t.Kind() == reflect.String:
		return KindText, nil
	}
	return 0, nil
}

// valuesOf reads the values of details out of a struct.
func valuesOf(list []Detail, v reflect.Value) []Value {
	values := make([]Value, len(list))
	for i := range list {
		values[i] = valueOf(&list[i], v.FieldByIndex(list[i].index))
	}
	return values
}

func valueOf(d *Detail, v reflect.Value) Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if d.Kind == KindDecimal {
			return v.Interface()
		}
		v = v.Elem()
	case reflect.Slice:
		if v.IsNil() && (d.Kind == KindAddress || d.Kind == KindBoC || d.Kind == KindAddresses) {
			return nil
		}
	}
	switch d.Kind {
	case KindUint:
		return v.Uint()
	case KindNumber:
		return v.Int()
	case KindBool:
		return v.Bool()
	case KindText:
		return v.String()
	case KindOpcode:
		return uint32(v.Uint())
	case KindObject:
		return valuesOf(d.Details, v)
	case KindList:
		rows := make([][]Value, v.Len())
		for i := range rows {
			rows[i] = valuesOf(d.Details, v.Index(i))
		}
		return rows
	default:
		return v.Interface()
	}
}

// eachAccount visits the addresses among values that are accounts of the action.
func eachAccount(list []Detail, values []Value, visit func(Address)) {
	for i := range list {
		d := &list[i]
		switch v := values[i].(type) {
		case Address:
			if d.Account {
				visit(v)
			}
		case []Address:
			if d.Account {
				for _, a := range v {
					visit(a)
				}
			}
		case []Value:
			eachAccount(d.Details, v, visit)
		case [][]Value:
			for _, row := range v {
				eachAccount(d.Details, row, visit)
			}
		}
	}
}

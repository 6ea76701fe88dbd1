package action

import (
	"errors"
	"fmt"
	"math/big"

	"tonscribe/schema/record"
)

// ErrRecord is the error of a record that is no action.
var ErrRecord = errors.New("no action")

// Record returns the action as it travels between stages.
func (a *Action) Record() *record.Action {
	r := &record.Action{
		Id: a.ID[:], Type: a.Type.Name, Success: a.Success, StartLt: a.StartLt, EndLt: a.EndLt, StartUtime: a.StartUtime, EndUtime: a.EndUtime,
		Transactions: a.Transactions, Accounts: make([][]byte, len(a.Accounts)), Details: pack(a.Type.Details, a.Details),
	}
	for i, account := range a.Accounts {
		r.Accounts[i] = account
	}
	for _, p := range a.Ancestors {
		r.Ancestors = append(r.Ancestors, p.Type.Name)
		r.Parent = p.ID[:]
	}
	since, until := a.Seen()
	r.Since, r.Until = uint32(since), uint32(until)
	return r
}

// FromRecord returns the action of a record: without the rule that recognised it, and
// of the actions that it is a part of only their types, and the id of the innermost. A
// type that another version of the program wrote and this one does not know has its
// name and no details.
func FromRecord(r *record.Action) (*Action, error) {
	if len(r.Id) != 32 || r.Type == "" {
		return nil, fmt.Errorf("%w: type %q, id of %d bytes", ErrRecord, r.Type, len(r.Id))
	}
	t := recorded(r.Type)
	a := &Action{Type: t, Success: r.Success, StartLt: r.StartLt, EndLt: r.EndLt, StartUtime: r.StartUtime, EndUtime: r.EndUtime,
		Transactions: r.Transactions, Details: unpack(t.Details, r.Details)}
	copy(a.ID[:], r.Id)
	for _, account := range r.Accounts {
		a.Accounts = append(a.Accounts, account)
	}
	for _, name := range r.Ancestors {
		a.Ancestors = append(a.Ancestors, &Action{Type: recorded(name)})
	}
	if p := a.Parent(); p != nil {
		copy(p.ID[:], r.Parent)
	}
	return a, nil
}

// recorded returns the type with a name that a record has.
func recorded(name string) *Type {
	if t := TypeNamed(name); t != nil {
		return t
	}
	return &Type{Name: name}
}

func pack(list []Detail, values []Value) (packed []*record.ActionDetail) {
	for i := range list {
		if values[i] == nil {
			continue
		}
		d := &record.ActionDetail{Name: list[i].Name}
		switch v := values[i].(type) {
		case Address:
			d.Value = &record.ActionDetail_Bytes{Bytes: v}
		case BoC:
			d.Value = &record.ActionDetail_Bytes{Bytes: v}
		case *big.Int:
			if v.Sign() < 0 {
				d.Value = &record.ActionDetail_Text{Text: v.String()}
			} else {
				d.Value = &record.ActionDetail_Bytes{Bytes: v.Bytes()}
			}
		case uint64:
			d.Value = &record.ActionDetail_Unsigned{Unsigned: v}
		case uint32:
			d.Value = &record.ActionDetail_Unsigned{Unsigned: uint64(v)}
		case int64:
			d.Value = &record.ActionDetail_Signed{Signed: v}
		case bool:
			d.Value = &record.ActionDetail_Truth{Truth: v}
		case string:
			d.Value = &record.ActionDetail_Text{Text: v}
		case Currencies:
			d.Value = &record.ActionDetail_List{List: &record.ActionList{Currencies: v}}
		case []Address:
			l := &record.ActionList{}
			for _, a := range v {
				l.Addresses = append(l.Addresses, a)
			}
			d.Value = &record.ActionDetail_List{List: l}
		case []Value:
			d.Value = &record.ActionDetail_Object{Object: &record.ActionObject{Details: pack(list[i].Details, v)}}
		case [][]Value:
			l := &record.ActionList{}
			for _, row := range v {
				l.Objects = append(l.Objects, &record.ActionObject{Details: pack(list[i].Details, row)})
			}
			d.Value = &record.ActionDetail_List{List: l}
		default:
			panic(fmt.Sprintf("%s has a %T", d.Name, v)) // which no kind has
		}
		packed = append(packed, d)
	}
	return packed
}

// unpack reads details by their names: those that a record lacks are null, and what
// has another form than its kind is, too.
func unpack(list []Detail, packed []*record.ActionDetail) []Value {
	values := make([]Value, len(list))
	at := 0
	for i := range list {
		d := find(packed, list[i].Name, &at)
		if d != nil {
			values[i] = unpackOne(&list[i], d)
		}
	}
	return values
}

// find returns the detail with the name, looking first where it should be.
func find(packed []*record.ActionDetail, name string, at *int) *record.ActionDetail {
	for n := range packed {
		if i := (*at + n) % len(packed); packed[i].Name == name {
			*at = i + 1
			return packed[i]
		}
	}
	return nil
}

func unpackOne(d *Detail, p *record.ActionDetail) Value {
	switch v := p.Value.(type) {
	case *record.ActionDetail_Bytes:
		switch d.Kind {
		case KindAddress:
			return Address(v.Bytes)
		case KindBoC:
			return BoC(v.Bytes)
		case KindDecimal:
			return new(big.Int).SetBytes(v.Bytes)
		}
	case *record.ActionDetail_Unsigned:
		switch d.Kind {
		case KindUint:
			return v.Unsigned
		case KindOpcode:
			return uint32(v.Unsigned)
		}
	case *record.ActionDetail_Signed:
		if d.Kind == KindNumber {
			return v.Signed
		}
	case *record.ActionDetail_Truth:
		if d.Kind == KindBool {
			return v.Truth
		}
	case *record.ActionDetail_Text:
		switch d.Kind {
		case KindText:
			return v.Text
		case KindDecimal:
			if n, ok := new(big.Int).SetString(v.Text, 10); ok {
				return n
			}
		}
	case *record.ActionDetail_Object:
		if d.Kind == KindObject {
			return unpack(d.Details, v.Object.GetDetails())
		}
	case *record.ActionDetail_List:
		switch d.Kind {
		case KindCurrencies:
			return Currencies(v.List.GetCurrencies())
		case KindAddresses:
			addresses := make([]Address, len(v.List.GetAddresses()))
			for i, a := range v.List.GetAddresses() {
				addresses[i] = a
			}
			return addresses
		case KindList:
			rows := make([][]Value, len(v.List.GetObjects()))
			for i, o := range v.List.GetObjects() {
				rows[i] = unpack(d.Details, o.GetDetails())
			}
			return rows
		}
	}
	return nil
}

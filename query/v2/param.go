package v2

import "cmp"

// Kind says how a parameter's text or JSON value is read.
type Kind uint8

// The kinds.
const (
	AddressKind  Kind = iota // raw or user-friendly
	HashKind                 // 256 bits as base64, base64url or hex
	AccountKind              // an account id: any form of an address or of a hash
	Int32Kind                // decimal; JSON integers and decimal strings
	Int64Kind                // like Int32Kind
	ShardKind                // signed or unsigned decimal, 0x and 16 hex digits
	BoolKind                 // words such as true, yes, on, 1; JSON booleans and integers too
	FlagKind                 // a JSON boolean, or 0 and 1
	TextKind                 // a string
	HashesKind               // repeated in a query, an array in JSON
	BytesKind                // base64, either alphabet
	MethodKind               // name or number of a get-method
	StackKind                // [label, value] pairs
	StackStdKind             // typed stack entries
	CellKind                 // {"data":{"b64","len"},"refs":[…]}
)

// Param declares one parameter.
type Param struct {
	Name     string
	Kind     Kind
	Required bool
	// Default is taken when nothing is sent, and shown.
	Default string
	// Min and Max bound a number; values outside have errors of their own.
	Min, Max *int64
	// Missing answers when a required one is not there or empty, Bad when it
	// cannot be read. Empty ones stand for the contract's usual texts.
	Missing, Bad string
	// RuleName is the name in texts about Min and Max, if it is another one.
	RuleName    string
	Description string
}

func bound(n int64) *int64 { return &n }

// missing is the answer when a required parameter was not sent.
func (p *Param) missing() *Error {
	switch {
	case p.Missing != "":
		return unprocessable("%s", p.Missing)
	case p.Kind == AddressKind, p.Kind == HashKind, p.Kind == BytesKind:
		return unprocessable("empty %s", p.Name)
	case p.Kind == Int32Kind, p.Kind == Int64Kind, p.Kind == ShardKind:
		return p.bad()
	}
	return unprocessable("%s required", p.Name)
}

// bad is the answer when the parameter cannot be read.
func (p *Param) bad() *Error {
	switch {
	case p.Bad != "":
		return unprocessable("%s", p.Bad)
	case p.Kind == AddressKind:
		return unprocessable("failed to parse address")
	}
	return unprocessable("failed to parse %s", p.Name)
}

// check holds the bounds of a number.
func (p *Param) check(n int64) *Error {
	name := cmp.Or(p.RuleName, p.Name)
	switch {
	case p.Min != nil && n < *p.Min && *p.Min == 1:
		return unprocessable("%s should be positive", name)
	case p.Min != nil && n < *p.Min:
		return unprocessable("%s should be non-negative", name)
	case p.Max != nil && n > *p.Max:
		return unprocessable("%s should be less or equal %d", name, *p.Max)
	}
	return nil
}

// Errors are the answers that the parameter can cause, for the description.
func (p *Param) Errors() []Error {
	var list []Error
	if p.Required {
		list = append(list, *p.missing())
	}
	if p.Kind != TextKind {
		list = append(list, *p.bad())
	}
	if p.Min != nil {
		list = append(list, *p.check(*p.Min - 1))
	}
	if p.Max != nil {
		list = append(list, *p.check(*p.Max + 1))
	}
	return list
}

func addressParam(description string) Param {
	return Param{Name: "address", Kind: AddressKind, Required: true, Description: description}
}

// seqnoParam is the masterchain block whose state is asked for.
var seqnoParam = Param{
	Name: "seqno", Kind: Int32Kind, Min: bound(1), Description: "masterchain block whose state is read; without it the newest one",
}

// anySeqno is seqnoParam where lite servers say what is wrong with a number.
var anySeqno = Param{Name: seqnoParam.Name, Kind: Int32Kind, Description: seqnoParam.Description}

// accountParams are those of the methods that read an account's state.
var accountParams = []Param{addressParam("account, in any form"), seqnoParam}

package render

import "strconv"

// object writes the members of a JSON object; the zero value of next starts it.
type object struct {
	dst  []byte
	next bool
}

func open(dst []byte) object { return object{dst: append(dst, '{')} }

func (o *object) close() []byte { return append(o.dst, '}') }

// key starts a member; name is a constant that needs no escape.
func (o *object) key(name string) {
	if o.next {
		o.dst = append(o.dst, ',')
	}
	o.next = true
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, name...)
	o.dst = append(o.dst, '"', ':')
}

func (o *object) null(name string) {
	o.key(name)
	o.dst = append(o.dst, "null"...)
}

func (o *object) bool(name string, v bool) {
	o.key(name)
	o.dst = strconv.AppendBool(o.dst, v)
}

func (o *object) int(name string, v int64) {
	o.key(name)
	o.dst = strconv.AppendInt(o.dst, v, 10)
}

func (o *object) decimal(name string, v uint64) {
	o.key(name)
	o.dst = Decimal(o.dst, v)
}

// decimalIf leaves the member out when there is no value.
func (o *object) decimalIf(name string, v *uint64) {
	if v != nil {
		o.decimal(name, *v)
	}
}

func (o *object) decimalOrNull(name string, v *uint64) {
	if v == nil {
		o.null(name)
		return
	}
	o.decimal(name, *v)
}

func (o *object) hash(name string, v []byte) {
	o.key(name)
	o.dst = Hash(o.dst, v)
}

func (o *object) hashIf(name string, v []byte) {
	if len(v) > 0 {
		o.hash(name, v)
	}
}

// word writes a text that needs no escape.
func (o *object) word(name, v string) {
	o.key(name)
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, v...)
	o.dst = append(o.dst, '"')
}

func (o *object) address(name string, v []byte) {
	o.key(name)
	o.dst = Address(o.dst, v)
}

func (o *object) raw(name, v string) {
	o.key(name)
	o.dst = append(o.dst, v...)
}

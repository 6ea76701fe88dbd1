package render

import (
	"math/big"
	"strconv"

	"tonscribe/schema"
)

// Amount appends a magnitude of a record as a decimal string.
func Amount(dst, magnitude []byte) []byte {
	dst = append(dst, '"')
	dst = Integer(dst, magnitude)
	return append(dst, '"')
}

// Integer appends a magnitude of a record as a number.
func Integer(dst, magnitude []byte) []byte {
	if len(magnitude) <= 8 {
		var n uint64
		for _, b := range magnitude {
			n = n<<8 | uint64(b)
		}
		return strconv.AppendUint(dst, n, 10)
	}
	return new(big.Int).SetBytes(magnitude).Append(dst, 10)
}

func (o *object) amount(name string, magnitude []byte) {
	o.key(name)
	o.dst = Amount(o.dst, magnitude)
}

func (o *object) integer(name string, magnitude []byte) {
	o.key(name)
	o.dst = Integer(o.dst, magnitude)
}

// party writes an address of a token transfer: addr_none where it has none.
func (o *object) party(name string, address []byte) {
	if len(address) != schema.AddressSize {
		o.word(name, "addr_none")
		return
	}
	o.address(name, address)
}

// addressIf leaves the member out when there is none.
func (o *object) addressIf(name string, address []byte) {
	if len(address) == schema.AddressSize {
		o.address(name, address)
	}
}

// boc writes a bag of cells as it is, null when there is none.
func (o *object) boc(name string, boc []byte) {
	o.key(name)
	o.dst = Hash(o.dst, boc)
}

// text writes any text.
func (o *object) text(name, v string) {
	o.key(name)
	o.dst = Text(o.dst, v)
}

// addresses writes a list of addresses.
func (o *object) addresses(name string, list [][]byte) {
	o.key(name)
	o.dst = append(o.dst, '[')
	for i, a := range list {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = Address(o.dst, a)
	}
	o.dst = append(o.dst, ']')
}

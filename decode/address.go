package decode

import (
	"encoding/binary"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// address reads MsgAddress. Of addr_std and addr_var it gives the record's form,
// an anycast prefix already put in place; of an addr_var that has not 256 bits
// and of addr_none nothing.
func (d *Decoder) address(s *cell.Slice) ([]byte, *record.ExternalAddress) {
	switch s.Uint(2) {
	case 1: // addr_extern$01
		n := int(s.Uint(9))
		a := &record.ExternalAddress{Bits: uint32(n), Data: d.memory.take((n + 7) / 8)}
		s.ReadBits(a.Data, n)
		return nil, a
	case 2: // addr_std$10
		prefix, n := anycast(s)
		return d.accountAddress(s, int32(s.Int(8)), prefix, n), nil
	case 3: // addr_var$11
		prefix, n := anycast(s)
		bits, workchain := int(s.Uint(9)), int32(s.Uint(32))
		if bits != 256 {
			s.Skip(bits)
			return nil, nil
		}
		return d.accountAddress(s, workchain, prefix, n), nil
	}
	return nil, nil
}

// anycast reads anycast:(Maybe Anycast): n bits that replace the first ones of
// the address.
func anycast(s *cell.Slice) (prefix uint32, n uint) {
	if !s.Bool() {
		return 0, 0
	}
	n = uint(s.Uint(5))
	if n < 1 || n > 30 {
		s.FailTag()
		return 0, 0
	}
	return uint32(s.Uint(n)), n
}

func (d *Decoder) accountAddress(s *cell.Slice, workchain int32, prefix uint32, n uint) []byte {
	a := d.memory.take(schema.AddressSize)
	binary.BigEndian.PutUint32(a, uint32(workchain))
	s.Read(a[4:])
	if n > 0 {
		first := binary.BigEndian.Uint32(a[4:])
		first = prefix<<(32-n) | first&(1<<(32-n)-1)
		binary.BigEndian.PutUint32(a[4:], first)
	}
	return a
}

package decode

import (
	"bytes"
	"fmt"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// extraCurrencies reads ExtraCurrencyCollection (HashmapE 32 (VarUInteger 32)),
// nil when it is empty.
func (d *Decoder) extraCurrencies(s *cell.Slice) ([]*record.ExtraCurrency, error) {
	if !s.Bool() {
		return nil, s.Err()
	}
	return d.extraNode(s.Next(), nil, 0, 0)
}

func (d *Decoder) extraNode(s cell.Slice, list []*record.ExtraCurrency, key uint32, bits int) ([]*record.ExtraCurrency, error) {
	if err := d.visit(); err != nil {
		return nil, err
	}
	label, n := s.Label(32 - bits)
	key |= uint32(label[0]>>32) >> bits
	bits += n
	if bits == 32 {
		amount := make([]byte, s.Uint(5))
		s.Read(amount)
		if s.Failed() {
			return nil, fmt.Errorf("extra currency %d: %w", key, s.Err())
		}
		amount = bytes.TrimLeft(amount, "\x00")
		return append(list, &record.ExtraCurrency{Id: key, Amount: amount}), nil
	}
	left, right := s.Next(), s.Next()
	if s.Failed() {
		return nil, fmt.Errorf("extra currencies: %w", s.Err())
	}
	list, err := d.extraNode(left, list, key, bits+1)
	if err != nil {
		return nil, err
	}
	return d.extraNode(right, list, key|1<<(31-bits), bits+1)
}

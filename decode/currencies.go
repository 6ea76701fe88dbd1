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
	return d.currencies(s.Next())
}

// currencies reads the dictionary of ExtraCurrencyCollection.
func (d *Decoder) currencies(dict cell.Slice) (list []*record.ExtraCurrency, err error) {
	err = dict.Hashmap(32, &d.budget, false, func(key cell.Key, s cell.Slice) error {
		id := uint32(key[0] >> 32)
		amount := make([]byte, s.Uint(5))
		s.Read(amount)
		if s.Failed() {
			return fmt.Errorf("extra currency %d: %w", id, s.Err())
		}
		list = append(list, &record.ExtraCurrency{Id: id, Amount: bytes.TrimLeft(amount, "\x00")})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

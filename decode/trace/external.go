package trace

import (
	"encoding/binary"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// normalize sets the normalised hash (TEP-467) of an external message, which has only
// its destination and, in a reference, its body.
func normalize(m *record.Message, body cell.Cell) error {
	var b cell.Builder
	b.Store(0b1000, 4) // ext_in_msg_info$10, addr_none$00
	b.Store(0b100, 3)  // addr_std$10 without anycast
	b.Store(uint64(binary.BigEndian.Uint32(m.Destination)), 8)
	b.StoreBytes(m.Destination[4:], 256)
	b.Store(0b000001, 6) // import_fee 0, no init, body in a reference
	hash, err := b.Hash([]cell.Cell{body})
	if err != nil {
		return err
	}
	if m.HashNorm = nil; hash != [32]byte(m.Hash) {
		m.HashNorm = hash[:]
	}
	return nil
}

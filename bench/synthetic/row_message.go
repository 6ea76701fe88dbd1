package synthetic

import (
	"crypto/sha256"
	"encoding/binary"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

const cellBits = 1023 // that fit a cell

// seal gives a complete message its hash, and an external one that of its
// normalized form. The body lies in the message's own cell where it fits.
func seal(m *record.Message, b body) {
	var c messageCell
	switch m.Kind {
	case record.Message_INTERNAL:
		c.put(flag(m.IhrDisabled)<<2|flag(m.Bounce)<<1|flag(m.Bounced), 4) // int_msg_info$0
		c.address(m.Source)
		c.address(m.Destination)
		c.coins(m.Value)
		c.put(0, 1) // no extra currencies
		c.coins(m.IhrFee)
		c.coins(m.FwdFee)
		c.put(m.CreatedLt, 64)
		c.put(uint64(m.CreatedAt), 32)
	case record.Message_EXTERNAL_IN:
		c.put(0b10_00, 4) // ext_in_msg_info$10, addr_none$00
		c.address(m.Destination)
		c.coins(m.ImportFee)
	case record.Message_EXTERNAL_OUT:
		c.put(0b11, 2) // ext_out_msg_info$11
		c.address(m.Source)
		c.put(0b00, 2) // addr_none$00
		c.put(m.CreatedLt, 64)
		c.put(uint64(m.CreatedAt), 32)
	}
	c.put(0, 1) // no StateInit
	m.Hash = c.hash(b, c.at+1+8*len(b.data) <= cellBits)
	if m.Kind == record.Message_EXTERNAL_IN {
		var c messageCell
		c.put(0b10_00, 4)
		c.address(m.Destination)
		c.put(0b0000_0, 5) // import_fee 0, no StateInit
		m.HashNorm = c.hash(b, false)
	}
}

// messageCell is the root cell of a message: behind the two descriptors at bits of
// data, then what references take.
type messageCell struct {
	cell [2 + 128 + 2 + 32]byte
	at   int
}

func (c *messageCell) put(v uint64, n int) {
	putBits(c.cell[2:], c.at, n, v)
	c.at += n
}

// address stores addr_std in a workchain of 8 bits.
func (c *messageCell) address(a []byte) {
	c.put(0b100<<8|uint64(uint8(schema.Workchain(a))), 11)
	copyBits(c.cell[2:], c.at, schema.AccountID(a), 0, 256)
	c.at += 256
}

// coins stores a VarUInteger 16.
func (c *messageCell) coins(v uint64) {
	n := 0
	for v>>(8*n) != 0 {
		n++
	}
	c.put(uint64(n), 4)
	c.put(v, 8*n)
}

// hash stores the body, in the cell itself or in a reference.
func (c *messageCell) hash(b body, inline bool) []byte {
	if inline {
		c.put(0, 1)
		copyBits(c.cell[2:], c.at, b.data, 0, 8*len(b.data))
		c.at += 8 * len(b.data)
	} else {
		c.put(1, 1)
	}
	end := 2 + (c.at+7)/8
	c.cell[1] = byte(c.at/8 + (c.at+7)/8)
	if c.at&7 != 0 {
		c.put(1, 1)
	}
	if !inline {
		c.cell[0] = 1
		binary.BigEndian.PutUint16(c.cell[end:], uint16(cellsOf(len(b.data))-1))
		copy(c.cell[end+2:], b.hash)
		end += 2 + 32
	}
	hash := sha256.Sum256(c.cell[:end])
	return hash[:]
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

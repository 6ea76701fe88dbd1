package cell

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Why a Slice failed; the first reason stays.
const (
	faultNone uint8 = iota
	faultBits
	faultRefs
	faultExotic
	faultAmount
	faultTag
)

// Slice is a reading position in a cell. After the first read that does not
// fit, every read gives zeros and Err tells why, so a caller can read a whole
// structure and check once. The zero Slice is empty.
type Slice struct {
	bag   *Bag
	pos   uint32 // in bits of the Bag's buffer
	end   uint32
	cell  uint32
	ref   uint8
	refs  uint8
	fault uint8
}

// BitsLeft is the number of unread bits.
func (s *Slice) BitsLeft() int { return int(s.end - s.pos) }

// RefsLeft is the number of unread references.
func (s *Slice) RefsLeft() int { return int(s.refs - s.ref) }

// Failed reports whether a read did not fit.
func (s *Slice) Failed() bool { return s.fault != faultNone }

// Err is nil, or the reason of the first read that did not fit.
func (s *Slice) Err() error {
	switch s.fault {
	case faultNone:
		return nil
	case faultExotic:
		return ErrPruned
	case faultAmount:
		return ErrAmount
	case faultTag:
		return fmt.Errorf("%w: unknown tag", ErrFormat)
	case faultRefs:
		return fmt.Errorf("%w: no reference left", ErrUnderflow)
	default:
		return ErrUnderflow
	}
}

func (s *Slice) fail(fault uint8) {
	if s.fault == faultNone {
		s.fault = fault
	}
	s.pos, s.ref = s.end, s.refs
}

// FailTag makes Err say that the slice has a tag nobody knows.
func (s *Slice) FailTag() { s.fail(faultTag) }

// Uint reads n bits, at most 64, as a big-endian number.
func (s *Slice) Uint(n uint) uint64 {
	if uint32(n) > s.end-s.pos {
		s.fail(faultBits)
		return 0
	}
	v := s.peek(n)
	s.pos += uint32(n)
	return v
}

// peek reads n bits that are there.
func (s *Slice) peek(n uint) uint64 {
	if n == 0 {
		return 0
	}
	at, shift := s.pos>>3, s.pos&7
	p := s.bag.buf[at:]
	v := binary.BigEndian.Uint64(p) << shift
	if shift != 0 {
		v |= uint64(p[8]) >> (8 - shift)
	}
	return v >> (64 - n)
}

// Peek is like Uint but stays where it is and gives false when the bits are not
// there.
func (s *Slice) Peek(n uint) (uint64, bool) {
	if uint32(n) > s.end-s.pos {
		return 0, false
	}
	return s.peek(n), true
}

// Int reads n bits, 1 to 64, as a two's complement number.
func (s *Slice) Int(n uint) int64 { return int64(s.Uint(n)<<(64-n)) >> (64 - n) }

// Bool reads one bit.
func (s *Slice) Bool() bool {
	if s.pos >= s.end {
		s.fail(faultBits)
		return false
	}
	v := s.bag.buf[s.pos>>3]>>(7-s.pos&7)&1 != 0
	s.pos++
	return v
}

// Unary reads ones up to a zero and returns their number.
func (s *Slice) Unary() int {
	n := 0
	for s.Bool() {
		n++
	}
	return n
}

// Skip passes n bits.
func (s *Slice) Skip(n int) {
	if n < 0 || n > s.BitsLeft() {
		s.fail(faultBits)
		return
	}
	s.pos += uint32(n)
}

// Read fills dst with the next 8·len(dst) bits, or with zeros when they are not
// there.
func (s *Slice) Read(dst []byte) {
	if len(dst)*8 > s.BitsLeft() {
		s.fail(faultBits)
		clear(dst)
		return
	}
	if len(dst) == 0 {
		return
	}
	p, shift := s.bag.buf[s.pos>>3:], s.pos&7
	s.pos += uint32(len(dst)) * 8
	if shift == 0 {
		copy(dst, p)
		return
	}
	for len(dst) >= 8 {
		v := binary.BigEndian.Uint64(p)<<shift | uint64(p[8])>>(8-shift)
		binary.BigEndian.PutUint64(dst, v)
		dst, p = dst[8:], p[8:]
	}
	for i := range dst {
		dst[i] = p[i]<<shift | p[i+1]>>(8-shift)
	}
}

// ReadBits puts the next n bits into dst, left-aligned and filled up with zero
// bits; dst has room for them.
func (s *Slice) ReadBits(dst []byte, n int) {
	s.Read(dst[:n/8])
	if rest := uint(n % 8); rest != 0 {
		dst[n/8] = byte(s.Uint(rest) << (8 - rest))
	}
}

// VarUint reads a VarUInteger whose length in bytes has lengthBits bits
// (4 for Grams and VarUInteger 16, 3 for VarUInteger 7, 2 for VarUInteger 3).
// A value over 64 bits fails with ErrAmount.
func (s *Slice) VarUint(lengthBits uint) uint64 {
	n := uint(s.Uint(lengthBits)) * 8
	if n <= 64 {
		return s.Uint(n)
	}
	if s.Uint(n-64) != 0 {
		s.fail(faultAmount)
	}
	return s.Uint(64)
}

// Ref reads the next reference. The zero Cell is returned when there is none.
func (s *Slice) Ref() Cell {
	if s.ref >= s.refs {
		s.fail(faultRefs)
		return Cell{}
	}
	c := Cell{s.bag, s.bag.nodes[s.cell].ref[s.ref]}
	s.ref++
	return c
}

// Next reads the next reference and begins to read it. When there is none, or
// it is exotic, the slice it returns has failed already.
func (s *Slice) Next() Slice {
	c := s.Ref()
	if !c.Valid() {
		return Slice{fault: s.fault}
	}
	return c.Slice()
}

// Label reads a HmLabel of at most m bits (hashmap.tlb) and returns its bits,
// left-aligned in four words, and its length. One of more than 256 bits fails.
// It is ReadLabel for the keys of blocks, by words instead of bytes.
func (s *Slice) Label(m int) (label [4]uint64, n int) {
	if !s.Bool() { // hml_short$0
		n = s.Unary()
	} else if lengthBits := uint(bits.Len(uint(m))); !s.Bool() { // hml_long$10
		n = int(s.Uint(lengthBits))
	} else { // hml_same$11
		ones := s.Bool()
		n = int(s.Uint(lengthBits))
		if n > m || n > 64*len(label) {
			s.fail(faultTag)
			return label, 0
		}
		for i := 0; ones && i < n; i += 64 {
			label[i/64] = ^uint64(0) << (64 - uint(min(n-i, 64)))
		}
		return label, n
	}
	if n > m || n > 64*len(label) || n > s.BitsLeft() {
		s.fail(faultTag)
		return label, 0
	}
	for i := 0; i < n; i += 64 {
		k := uint(min(n-i, 64))
		label[i/64] = s.Uint(k) << (64 - k)
	}
	return label, n
}

// Truncate makes s end where rest, a later position in the same cell, begins;
// the references stay.
func (s *Slice) Truncate(rest *Slice) {
	if rest.cell == s.cell && rest.pos >= s.pos && rest.pos <= s.end {
		s.end = rest.pos
	}
}

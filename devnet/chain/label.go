package chain

import (
	"fmt"
	"math/bits"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// readLabel reads a HmLabel (hashmap.tlb) into key from bit `at` on and gives
// its length; size is the length of whole keys.
func readLabel(s *cell.Slice, key []byte, at, size uint) (uint, error) {
	left := size - at
	long, err := s.LoadBoolBit()
	if err != nil {
		return 0, err
	}
	if !long {
		return readShortLabel(s, key, at, left)
	}
	same, err := s.LoadBoolBit()
	if err != nil {
		return 0, err
	}
	var bit bool
	if same {
		if bit, err = s.LoadBoolBit(); err != nil {
			return 0, err
		}
	}
	n, err := s.LoadUInt(lengthBits(left))
	if err != nil {
		return 0, err
	}
	if uint(n) > left {
		return 0, fmt.Errorf("label of %d bits where %d are left", n, left)
	}
	if !same {
		return uint(n), readBits(s, key, at, uint(n))
	}
	for i := range uint(n) {
		setBit(key, at+i, bit)
	}
	return uint(n), nil
}

func readShortLabel(s *cell.Slice, key []byte, at, left uint) (uint, error) {
	var n uint
	for {
		more, err := s.LoadBoolBit()
		if err != nil {
			return 0, err
		}
		if !more {
			return n, readBits(s, key, at, n)
		}
		if n++; n > left {
			return 0, fmt.Errorf("label is longer than the %d bits left", left)
		}
	}
}

// writeLabel writes bits [from, to) of key in the shortest form.
func writeLabel(b *cell.Builder, key []byte, from, to, size uint) error {
	n, k := to-from, lengthBits(size-from)
	short, long := 2+2*n, 2+k+n
	if same := 3 + k; same < short && same < long && allSame(key, from, to) {
		if err := b.StoreUInt(0b110|uint64(bitOf(key, from)), 3); err != nil {
			return err
		}
		return b.StoreUInt(uint64(n), k)
	}
	if short <= long {
		if err := b.StoreBoolBit(false); err != nil {
			return err
		}
		if err := b.StoreSameBit(true, n); err != nil {
			return err
		}
		if err := b.StoreBoolBit(false); err != nil {
			return err
		}
		return writeBits(b, key, from, to)
	}
	if err := b.StoreUInt(0b10, 2); err != nil {
		return err
	}
	if err := b.StoreUInt(uint64(n), k); err != nil {
		return err
	}
	return writeBits(b, key, from, to)
}

// lengthBits is the width of a label's length where at most n bits can follow.
func lengthBits(n uint) uint { return uint(bits.Len(n)) }

func readBits(s *cell.Slice, key []byte, at, n uint) error {
	for n > 0 {
		// up to the next byte boundary of the key
		step := min(n, 8-at%8)
		v, err := s.LoadUInt(step)
		if err != nil {
			return err
		}
		shift := 8 - at%8 - step
		mask := byte(0xff>>(8-step)) << shift
		key[at/8] = key[at/8]&^mask | byte(v)<<shift
		at, n = at+step, n-step
	}
	return nil
}

func writeBits(b *cell.Builder, key []byte, from, to uint) error {
	for from < to {
		step := min(to-from, 8-from%8)
		v := key[from/8] >> (8 - from%8 - step) & byte(0xff>>(8-step))
		if err := b.StoreUInt(uint64(v), step); err != nil {
			return err
		}
		from += step
	}
	return nil
}

func bitOf(key []byte, at uint) byte { return key[at/8] >> (7 - at%8) & 1 }

func setBit(key []byte, at uint, one bool) {
	mask := byte(0x80) >> (at % 8)
	key[at/8] &^= mask
	if one {
		key[at/8] |= mask
	}
}

// withBit is a copy of key with one bit set or cleared.
func withBit(key []byte, at uint, one bool) []byte {
	out := append([]byte(nil), key...)
	setBit(out, at, one)
	return out
}

func allSame(key []byte, from, to uint) bool {
	for i := from + 1; i < to; i++ {
		if bitOf(key, i) != bitOf(key, from) {
			return false
		}
	}
	return true
}

// commonBits is the first bit in [from, to) where a and b differ, or to.
func commonBits(a, b []byte, from, to uint) uint {
	for i := from; i < to; {
		if i%8 == 0 && to-i >= 8 && a[i/8] == b[i/8] {
			i += 8
			continue
		}
		if bitOf(a, i) != bitOf(b, i) {
			return i
		}
		i++
	}
	return to
}

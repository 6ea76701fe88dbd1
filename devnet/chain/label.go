package chain

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// readLabel reads a HmLabel (hashmap.tlb) into key from bit `at` on and gives
// its length; size is the length of whole keys.
func readLabel(s *cell.Slice, key []byte, at, size uint) (n uint) {
	left := size - at
	switch {
	case !s.MustLoadBoolBit(): // hml_short: the length in unary
		for s.MustLoadBoolBit() {
			n++
		}
	case !s.MustLoadBoolBit(): // hml_long
		n = uint(s.MustLoadUInt(lengthBits(left)))
	default: // hml_same
		bit := s.MustLoadBoolBit()
		if n = uint(s.MustLoadUInt(lengthBits(left))); n <= left {
			for i := range n {
				setBit(key, at+i, bit)
			}
			return n
		}
	}
	if n > left {
		panic(fmt.Errorf("label of %d bits where %d are left", n, left))
	}
	for end := at + n; at < end; {
		step := min(end-at, 8-at%8) // up to the next byte boundary of the key
		shift := 8 - at%8 - step
		mask := byte(0xff>>(8-step)) << shift
		key[at/8] = key[at/8]&^mask | byte(s.MustLoadUInt(step))<<shift
		at += step
	}
	return n
}

// writeLabel writes bits [from, to) of key in the shortest form.
func writeLabel(b *cell.Builder, key []byte, from, to, size uint) {
	n, k := to-from, lengthBits(size-from)
	short, long := 2+2*n, 2+k+n
	switch same := 3 + k; {
	case same < short && same < long && allSame(key, from, to):
		b.MustStoreUInt(0b110|uint64(bitOf(key, from)), 3).MustStoreUInt(uint64(n), k)
		return
	case short <= long:
		sure(b, b.MustStoreBoolBit(false).StoreSameBit(true, n)).MustStoreBoolBit(false)
	default:
		b.MustStoreUInt(0b10, 2).MustStoreUInt(uint64(n), k)
	}
	for from < to {
		step := min(to-from, 8-from%8)
		b.MustStoreUInt(uint64(key[from/8]>>(8-from%8-step)&byte(0xff>>(8-step))), step)
		from += step
	}
}

// lengthBits is the width of a label's length where at most n bits can follow.
func lengthBits(n uint) uint { return uint(bits.Len(n)) }

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
	out := bytes.Clone(key)
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

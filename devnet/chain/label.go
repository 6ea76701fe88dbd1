package chain

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// readLabel reads a HmLabel (hashmap.tlb) into key from bit `at` on and gives
// its length; size is the length of whole keys.
func readLabel(s *cell.Slice, key []byte, at, size uint) uint {
	n, err := toncell.ReadLabel(toncell.ReaderOf(s), key, at, size)
	if err != nil {
		panic(fmt.Errorf("label: %w", err))
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

// withBit is a copy of key with one bit set or cleared.
func withBit(key []byte, at uint, one bool) []byte {
	out := bytes.Clone(key)
	toncell.SetBit(out, at, one)
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

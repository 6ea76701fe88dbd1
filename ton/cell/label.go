package cell

import (
	"fmt"
	"math/bits"
)

// labelReader is a Slice or a Reader: after a read that fails, others give zeros.
type labelReader interface {
	Uint(n uint) uint64
	Err() error
}

// ReadLabel reads a HmLabel (hashmap.tlb) into a key behind its first at bits, of size
// bits in all and left-aligned, and returns the label's length. One that is longer
// than what is left of the key is an error.
func ReadLabel(r labelReader, key []byte, at, size uint) (n uint, err error) {
	room := size - at
	same, bit := false, uint64(0)
	if r.Uint(1) == 0 { // hml_short$0
		for r.Uint(1) == 1 {
			n++
		}
	} else {
		if same = r.Uint(1) == 1; same { // hml_same$11, otherwise hml_long$10
			bit = r.Uint(1)
		}
		n = uint(r.Uint(uint(bits.Len(room))))
	}
	if n > room {
		return n, fmt.Errorf("a label of %d bits where %d are left", n, room)
	}
	for end := at + n; at < end; {
		step := min(end-at, 8-at%8) // up to the next whole byte of the key
		value, mask := bit*0xff, byte(0xff>>(8-step))
		if !same {
			value = r.Uint(step)
		}
		shift := 8 - at%8 - step
		key[at/8] = key[at/8]&^(mask<<shift) | byte(value)&mask<<shift
		at += step
	}
	return n, r.Err()
}

// SetBit sets or clears a bit of a key.
func SetBit(key []byte, at uint, one bool) {
	mask := byte(0x80) >> (at % 8)
	key[at/8] &^= mask
	if one {
		key[at/8] |= mask
	}
}

package synthetic

import (
	"encoding/binary"
	"math/bits"

	"tonscribe/ton/cell"
)

// key is 256 bits, an account id or what is XORed to one: four words, the first
// bit is the highest of the first.
type key [4]uint64

func keyOf(id []byte) (k key) {
	for i := range k {
		k[i] = binary.BigEndian.Uint64(id[8*i:])
	}
	return k
}

func readKey(s *cell.Slice) (k key) {
	for i := range k {
		k[i] = s.Uint(64)
	}
	return k
}

func (k key) store(u *cell.Builder) {
	for _, word := range k {
		u.Store(word, 64)
	}
}

func (k key) xor(o key) key { return key{k[0] ^ o[0], k[1] ^ o[1], k[2] ^ o[2], k[3] ^ o[3]} }

func (k key) bit(at int) bool { return k[at/64]>>(63-at%64)&1 == 1 }

// from is k from bit at on, filled up with zeros.
func (k key) from(at int) (out key) {
	for i, j := 0, at/64; j < len(k); i, j = i+1, j+1 {
		out[i] = k[j] << (at % 64)
		if j+1 < len(k) {
			out[i] |= k[j+1] >> (64 - at%64)
		}
	}
	return out
}

// shared is how many bits k and o have in common at the beginning.
func (k key) shared(o key) (n int) {
	for i := range k {
		same := bits.LeadingZeros64(k[i] ^ o[i])
		if n += same; same < 64 {
			break
		}
	}
	return n
}

// storeLabel stores the first n bits of k as HmLabel ~n left, in the form
// hml_long$10 (hashmap.tlb).
func (k key) storeLabel(u *cell.Builder, n, left int) {
	u.Store(0b10, 2)
	u.Store(uint64(n), uint(bits.Len(uint(left))))
	for i := 0; i < n; i += 64 {
		size := uint(min(64, n-i))
		u.Store(k[i/64]>>(64-size), size)
	}
}

package synthetic

// Bit strings are byte slices read from the most significant bit of the first
// byte, as in cells.

func bitAt(data []byte, at int) bool { return data[at>>3]>>(7-at&7)&1 == 1 }

// bitsAt reads n ≤ 64 bits as a number.
func bitsAt(data []byte, at, n int) uint64 {
	var v uint64
	for n > 0 {
		take := min(8-at&7, n)
		part := data[at>>3] >> (8 - at&7 - take) & (1<<take - 1)
		v = v<<take | uint64(part)
		at, n = at+take, n-take
	}
	return v
}

// putBits writes the low n ≤ 64 bits of v.
func putBits(data []byte, at, n int, v uint64) {
	for n > 0 {
		take := min(8-at&7, n)
		shift := 8 - at&7 - take
		mask := byte(1<<take-1) << shift
		part := byte(v>>(n-take)) << shift
		data[at>>3] = data[at>>3]&^mask | part&mask
		at, n = at+take, n-take
	}
}

// copyBits writes n bits of src, from bit from on, to bit at of dst.
func copyBits(dst []byte, at int, src []byte, from, n int) {
	for n > 0 {
		take := min(64, n)
		putBits(dst, at, take, bitsAt(src, from, take))
		at, from, n = at+take, from+take, n-take
	}
}

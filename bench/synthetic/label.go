package synthetic

import "math/bits"

// label is an HmLabel (hashmap.tlb): the key bits that all entries below a
// dictionary node share.
type label struct {
	// at and size say where its bits are in the node, end where the rest begins.
	at, size, end int
	// same says that the bits are not there because they are all equal: value.
	same  bool
	value bool
}

// readLabel reads the label of a node with at most left key bits to come.
func readLabel(data []byte, at, left int) label {
	width := bits.Len(uint(left))
	if !bitAt(data, at) { // hml_short: length in unary
		size := 0
		for bitAt(data, at+1+size) {
			size++
		}
		return label{at: at + 2 + size, size: size, end: at + 2 + 2*size}
	}
	if !bitAt(data, at+1) { // hml_long
		size := int(bitsAt(data, at+2, width))
		return label{at: at + 2 + width, size: size, end: at + 2 + width + size}
	}
	size := int(bitsAt(data, at+3, width))
	return label{size: size, end: at + 3 + width, same: true, value: bitAt(data, at+2)}
}

// spellOut rewrites the label at the beginning of a node as hml_long if its
// bits are not there, so that they can be changed one by one.
func spellOut(n *node, l label, left int) (label, bool) {
	if !l.same || l.size == 0 {
		return l, true
	}
	width := bits.Len(uint(left))
	rest := n.bits - l.end
	out := label{at: 2 + width, size: l.size, end: 2 + width + l.size}
	size := out.end + rest
	if size > 1023 {
		return l, false
	}
	data := make([]byte, (size+7)/8)
	putBits(data, 0, 2, 0b10)
	putBits(data, 2, width, uint64(l.size))
	if l.value {
		for i := range l.size {
			putBits(data, out.at+i, 1, 1)
		}
	}
	copyBits(data, out.end, n.data, l.end, rest)
	n.data, n.bits = data, size
	return out, true
}

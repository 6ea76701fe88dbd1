package cell

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
)

// The magic numbers of serialized_boc, serialized_boc_idx and
// serialized_boc_idx_crc32c (boc.tlb).
const (
	magicGeneric = 0xb5ee9c72
	magicIndexed = 0x68ff65f3
	magicIndexC  = 0xacc3a728
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// layout is the header of a BoC.
type layout struct {
	index, crc, cache   bool
	refSize, offSize    int
	cells, roots, bytes int
	rootAt              int // of the root list, 0 without one
	indexAt, cellsAt    int
}

// Parse reads a BoC, in place of what the Bag held. It keeps no part of boc.
// After an error the Bag is empty.
func (b *Bag) Parse(boc []byte) error {
	if err := b.Read(boc); err != nil {
		return err
	}
	for i := len(b.nodes) - 1; i >= 0; i-- {
		if err := b.finalizeCell(i); err != nil {
			b.empty()
			return fmt.Errorf("cell %d: %w", i, err)
		}
	}
	return nil
}

func (b *Bag) empty() { b.buf, b.nodes, b.roots = b.buf[:0], b.nodes[:0], b.roots[:0] }

// Read is Parse without hashing: the cells can be read, but their hashes and
// depths are zero and their levels and exotic cells unchecked until Hash is
// called for a cell above them. For bytes that are known by their file hash.
func (b *Bag) Read(boc []byte) error {
	b.empty()
	l, err := parseLayout(boc)
	if err != nil {
		return err
	}
	b.buf = append(b.buf, boc...)
	b.buf = append(b.buf, make([]byte, slack)...)
	if cap(b.hashes) < unhashed+l.cells {
		b.hashes = make([][32]byte, unhashed, unhashed+l.cells+l.cells/2)
		b.depths = make([]uint16, unhashed, cap(b.hashes))
	}
	b.hashes, b.depths = b.hashes[:unhashed], b.depths[:unhashed]
	if err = b.readRoots(l); err == nil {
		err = b.readCells(l)
	}
	if err != nil {
		b.empty()
	}
	return err
}

// Hash hashes and checks the cells and everything below them, in one walk over
// the bag.
func (b *Bag) Hash(cells ...Cell) error {
	need := b.scan[:len(b.nodes)]
	clear(need)
	first := len(b.nodes)
	for _, c := range cells {
		need[c.i] = true
		first = min(first, int(c.i))
	}
	for i := first; i < len(b.nodes); i++ {
		if n := &b.nodes[i]; need[i] {
			for _, r := range n.ref[:n.refs] {
				need[r] = true
			}
		}
	}
	for i := len(b.nodes) - 1; i >= first; i-- {
		if !need[i] || b.nodes[i].hash != 0 {
			continue
		}
		if err := b.finalizeCell(i); err != nil {
			return fmt.Errorf("cell %d: %w", i, err)
		}
	}
	return nil
}

func parseLayout(boc []byte) (l layout, err error) {
	if len(boc) > MaxSize {
		return l, fmt.Errorf("%w: %d bytes", ErrLimit, len(boc))
	}
	if len(boc) < 6 {
		return l, fmt.Errorf("%w: only %d bytes", ErrFormat, len(boc))
	}
	magic, flags := binary.BigEndian.Uint32(boc), boc[4]
	l.refSize, l.offSize = int(flags), int(boc[5])
	switch magic {
	case magicGeneric:
		l.index, l.crc, l.cache = flags&0x80 != 0, flags&0x40 != 0, flags&0x20 != 0
		l.refSize = int(flags & 7)
		if flags&0x18 != 0 || l.cache && !l.index {
			return l, fmt.Errorf("%w: flags %02x", ErrFormat, flags)
		}
	case magicIndexed, magicIndexC:
		l.index, l.crc = true, magic == magicIndexC
	default:
		return l, fmt.Errorf("%w: magic %08x", ErrFormat, magic)
	}
	if l.refSize < 1 || l.refSize > 4 || l.offSize < 1 || l.offSize > 8 {
		return l, fmt.Errorf("%w: reference size %d, offset size %d", ErrFormat, l.refSize, l.offSize)
	}
	return l, l.counts(boc, magic == magicGeneric)
}

// counts reads the numbers after the sizes and places the parts of the BoC,
// which must fill it exactly.
func (l *layout) counts(boc []byte, rootList bool) error {
	at := 6 + 3*l.refSize + l.offSize
	if len(boc) < at {
		return fmt.Errorf("%w: ends in the header", ErrFormat)
	}
	cells, roots := number(boc[6:], l.refSize), number(boc[6+l.refSize:], l.refSize)
	absent, size := number(boc[6+2*l.refSize:], l.refSize), number(boc[6+3*l.refSize:], l.offSize)
	if size > uint64(len(boc)) || cells > size/2 || cells == 0 || absent != 0 {
		return fmt.Errorf("%w: %d cells and %d absent ones in %d bytes", ErrFormat, cells, absent, size)
	}
	if cells > MaxCells || roots > MaxRoots {
		return fmt.Errorf("%w: %d cells, %d roots", ErrLimit, cells, roots)
	}
	if roots == 0 || roots > cells || !rootList && roots != 1 {
		return fmt.Errorf("%w: %d roots of %d cells", ErrFormat, roots, cells)
	}
	l.cells, l.roots, l.bytes = int(cells), int(roots), int(size)
	if rootList {
		l.rootAt = at
		at += l.roots * l.refSize
	}
	if l.index {
		l.indexAt = at
		at += l.cells * l.offSize
	}
	l.cellsAt = at
	at += l.bytes
	if l.crc {
		at += 4
	}
	if at != len(boc) {
		return fmt.Errorf("%w: %d bytes where the header says %d", ErrFormat, len(boc), at)
	}
	if l.crc && crc32.Checksum(boc[:at-4], castagnoli) != binary.LittleEndian.Uint32(boc[at-4:]) {
		return ErrChecksum
	}
	return nil
}

// number reads a big-endian number of 1 to 8 bytes.
func number(b []byte, size int) (v uint64) {
	for _, x := range b[:size] {
		v = v<<8 | uint64(x)
	}
	return v
}

func (b *Bag) readRoots(l layout) error {
	if l.rootAt == 0 {
		b.roots = append(b.roots, 0)
		return nil
	}
	for i := range l.roots {
		r := number(b.buf[l.rootAt+i*l.refSize:], l.refSize)
		if r >= uint64(l.cells) {
			return fmt.Errorf("%w: root %d is cell %d of %d", ErrFormat, i, r, l.cells)
		}
		b.roots = append(b.roots, uint32(r))
	}
	return nil
}

// readCells cuts the data into cells and checks lengths, references and the
// index. Levels and stored hashes wait for finalize; d1 stays at buf[off-2]
// unless hashes are stored between it and the data.
func (b *Bag) readCells(l layout) error {
	if cap(b.nodes) < l.cells {
		b.nodes = make([]node, l.cells, l.cells+l.cells/4+8)
	}
	if cap(b.scan) < l.cells {
		b.scan = make([]bool, cap(b.nodes))
	}
	b.nodes = b.nodes[:l.cells]
	seen := b.scan[:l.cells]
	clear(seen)
	for _, r := range b.roots {
		seen[r] = true
	}
	at, end := l.cellsAt, l.cellsAt+l.bytes
	for i := range b.nodes {
		if !seen[i] {
			return fmt.Errorf("%w: nothing refers to cell %d", ErrFormat, i)
		}
		next, err := b.readCell(i, at, end, l, seen)
		if err != nil {
			return fmt.Errorf("cell %d: %w", i, err)
		}
		at = next
		if l.index && !indexFits(b.buf, l, i, at-l.cellsAt) {
			return fmt.Errorf("cell %d: %w: wrong offset in the index", i, ErrFormat)
		}
	}
	if at != end {
		return fmt.Errorf("%w: %d bytes after the last cell", ErrFormat, end-at)
	}
	return nil
}

func indexFits(buf []byte, l layout, i, end int) bool {
	v := number(buf[l.indexAt+i*l.offSize:], l.offSize)
	if l.cache {
		v >>= 1
	}
	return v == uint64(end)
}

// readCell reads the cell at buf[at] and returns where it ends.
func (b *Bag) readCell(i, at, end int, l layout, seen []bool) (int, error) {
	if end-at < 2 {
		return 0, fmt.Errorf("%w: no descriptors", ErrFormat)
	}
	d1, d2 := b.buf[at], b.buf[at+1]
	n := &b.nodes[i]
	*n = node{refs: d1 & 7, mask: d1 >> 5, stored: d1&hasHashes != 0}
	if n.refs > 4 {
		return 0, fmt.Errorf("%w: descriptor %02x", ErrFormat, d1)
	}
	at += 2
	if n.stored {
		at += storedHashes(d1) * (32 + 2)
	}
	size := int(d2>>1) + int(d2&1)
	next := at + size + int(n.refs)*l.refSize
	if next > end {
		return 0, fmt.Errorf("%w: ends in a cell", ErrFormat)
	}
	n.off = uint32(at)
	if err := n.describe(d1, d2, b.buf[at:at+size]); err != nil {
		return 0, err
	}
	return next, b.readRefs(i, at+size, l, seen)
}

// describe sets the number of bits and the kind of a cell, by its descriptors and
// its data.
func (n *node) describe(d1, d2 byte, data []byte) error {
	n.bits = uint16(len(data)) * 8
	if d2&1 != 0 {
		last := data[len(data)-1]
		if last&0x7f == 0 {
			return fmt.Errorf("%w: no completion bit", ErrFormat)
		}
		n.bits -= uint16(bits.TrailingZeros8(last)) + 1
	}
	if d1&isExotic != 0 {
		if n.bits < 8 || data[0] < byte(PrunedBranch) || data[0] > byte(MerkleUpdate) {
			return fmt.Errorf("%w: unknown type", ErrExotic)
		}
		n.kind = Kind(data[0])
	}
	return nil
}

func (b *Bag) readRefs(i, at int, l layout, seen []bool) error {
	n := &b.nodes[i]
	for j := range int(n.refs) {
		var r uint64
		switch l.refSize {
		case 1:
			r = uint64(b.buf[at])
		case 2:
			r = uint64(binary.BigEndian.Uint16(b.buf[at:]))
		default:
			r = number(b.buf[at:], l.refSize)
		}
		at += l.refSize
		if r <= uint64(i) || r >= uint64(l.cells) {
			return fmt.Errorf("%w: refers to cell %d of %d", ErrFormat, r, l.cells)
		}
		n.ref[j] = uint32(r)
		seen[r] = true
	}
	return nil
}

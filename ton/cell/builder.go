package cell

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Builder collects the content of a new ordinary cell, which Bag.Add puts into
// the bag its references belong to. The zero Builder is empty.
type Builder struct {
	data [128 + 8]byte // the last ones so that Store never leaves it
	bits int
	refs int
	ref  [4]uint32
	full bool
}

// Reset makes the Builder empty.
func (u *Builder) Reset() { *u = Builder{} }

// Store appends the low n bits of v, n at most 64.
func (u *Builder) Store(v uint64, n uint) {
	if u.bits+int(n) > 1023 {
		u.full = true
		return
	}
	v <<= 64 - n
	at, shift := u.bits>>3, uint(u.bits)&7
	p := u.data[at : at+9]
	binary.BigEndian.PutUint64(p, binary.BigEndian.Uint64(p)|v>>shift)
	p[8] |= byte(v << (8 - shift))
	u.bits += int(n)
}

// StoreBytes appends the first n bits of data, which has that many.
func (u *Builder) StoreBytes(data []byte, n int) {
	for ; n >= 64; data, n = data[8:], n-64 {
		u.Store(binary.BigEndian.Uint64(data), 64)
	}
	for ; n > 0; data, n = data[1:], n-8 {
		k := min(n, 8)
		u.Store(uint64(data[0]>>(8-k)), uint(k))
	}
}

// StoreRef appends a reference.
func (u *Builder) StoreRef(c Cell) {
	if u.refs == 4 || !c.Valid() {
		u.full = true
		return
	}
	u.ref[u.refs] = c.i
	u.refs++
}

// StoreBits moves n bits of s, at most what it has, to the end of the cell.
func (u *Builder) StoreBits(s *Slice, n int) {
	if n > s.BitsLeft() || u.bits+n > 1023 {
		u.full = true
		return
	}
	if u.bits&7 == 0 {
		s.ReadBits(u.data[u.bits>>3:], n)
		u.bits += n
		return
	}
	for n > 0 {
		k := uint(min(n, 64))
		u.Store(s.Uint(k), k)
		n -= int(k)
	}
}

// StoreRest moves everything that is left of s to the end of the cell.
func (u *Builder) StoreRest(s *Slice) {
	u.StoreBits(s, s.BitsLeft())
	for s.RefsLeft() > 0 {
		u.StoreRef(s.Ref())
	}
}

// Add puts the cell of u into the bag. The references must be cells of it that
// have their hashes.
func (b *Bag) Add(u *Builder) (Cell, error) {
	if u.full {
		return Cell{}, fmt.Errorf("%w: more than 1023 bits or 4 references", ErrLimit)
	}
	if rest := u.bits & 7; rest != 0 {
		u.data[u.bits/8] |= 0x80 >> rest
	}
	n := node{bits: uint16(u.bits), refs: uint8(u.refs), ref: u.ref}
	for _, r := range n.ref[:n.refs] {
		n.mask |= b.nodes[r].mask
	}
	return b.add(n, u.data[:(u.bits+7)/8])
}

// AddExotic puts the cell of u into the bag as an exotic one, whose kind is its
// first byte.
func (b *Bag) AddExotic(u *Builder) (Cell, error) {
	if u.full || u.bits < 16 || u.bits&7 != 0 {
		return Cell{}, fmt.Errorf("%w: %d bits", ErrExotic, u.bits)
	}
	n := node{kind: Kind(u.data[0]), bits: uint16(u.bits), refs: uint8(u.refs), ref: u.ref}
	switch n.kind {
	case PrunedBranch:
		n.mask = u.data[1]
	case Library:
	case MerkleProof, MerkleUpdate:
		for _, r := range n.ref[:n.refs] {
			n.mask |= b.nodes[r].mask >> 1
		}
	default:
		return Cell{}, fmt.Errorf("%w: kind %d", ErrExotic, n.kind)
	}
	return b.add(n, u.data[:u.bits/8])
}

// Truncate forgets the cells that were added since Len was n: Cells and Slices of
// them are invalid from then on. What Parse read must stay.
func (b *Bag) Truncate(n int) {
	if n >= len(b.nodes) {
		return
	}
	first := &b.nodes[n]
	b.buf = append(b.buf[:first.off-2], make([]byte, slack)...)
	b.hashes, b.depths = b.hashes[:first.hash], b.depths[:first.hash]
	b.nodes = b.nodes[:n]
}

// Hash is the representation hash of an ordinary cell with the bits of u and the
// references refs, in place of u's own ones. They are cells of whatever bags. The
// error is ErrLimit when the cell is too large or too deep, or not of level 0.
func (u *Builder) Hash(refs []Cell) (hash [32]byte, err error) {
	if u.full || len(refs) > 4 {
		return hash, ErrLimit
	}
	var w [2 + 128 + 4*(2+32)]byte
	size := (u.bits + 7) / 8
	w[0], w[1] = byte(len(refs)), byte(u.bits/8+size)
	at := 2 + copy(w[2:], u.data[:size])
	if rest := u.bits & 7; rest != 0 {
		w[at-1] |= 0x80 >> rest
	}
	for _, c := range refs {
		depth := c.Depth()
		if depth >= MaxDepth || c.Level() > 0 {
			return hash, ErrLimit
		}
		binary.BigEndian.PutUint16(w[at:], uint16(depth))
		at += 2
	}
	for _, c := range refs {
		at += copy(w[at:], c.Hash()[:])
	}
	return sha256.Sum256(w[:at]), nil
}

// add puts a cell with its data, completion tag included, into the bag. Its mask
// is the one that it should turn out to have.
func (b *Bag) add(n node, data []byte) (Cell, error) {
	base := max(len(b.buf)-slack, 0)
	if base+len(data) > 8*MaxSize-256 || len(b.nodes) >= 4*MaxCells {
		return Cell{}, fmt.Errorf("%w: too many added cells", ErrLimit)
	}
	b.buf = append(b.buf[:base], 0, 0)
	b.buf = append(b.buf, data...)
	b.buf = append(b.buf, make([]byte, slack)...)
	i := len(b.nodes)
	n.off = uint32(base + 2)
	b.nodes = append(b.nodes, n)
	if len(b.hashes) == 0 {
		b.hashes, b.depths = make([][32]byte, unhashed, 16), make([]uint16, unhashed, 16)
	}
	if err := b.finalizeCell(i); err != nil {
		b.nodes = b.nodes[:i]
		return Cell{}, err
	}
	return Cell{b, uint32(i)}, nil
}

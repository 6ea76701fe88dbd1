package cell

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Bits of the first descriptor byte of a cell.
const (
	isExotic  = 0x08
	hasHashes = 0x10
)

// levelOf is the level a mask stands for: the number of its highest bit.
func levelOf(mask uint8) int { return bits.Len8(mask) }

// hashIndex says which of a cell's hashes is its hash at a level.
func hashIndex(mask uint8, level int) uint32 {
	return uint32(bits.OnesCount8(mask & (1<<level - 1)))
}

// storedHashes is how many hashes a serialized cell with hashes carries.
func storedHashes(d1 byte) int { return bits.OnesCount8(d1>>5) + 1 }

// finalizeCell computes mask, hashes and depths of cell i, whose children have
// theirs, and checks them against what the BoC claims.
func (b *Bag) finalizeCell(i int) error {
	n := &b.nodes[i]
	claimed := n.mask
	mask, err := b.maskOf(n)
	if err != nil {
		return err
	}
	if mask != claimed {
		return fmt.Errorf("%w: level mask %d, should be %d", ErrFormat, claimed, mask)
	}
	size := (int(n.bits) + 7) / 8
	before := binary.BigEndian.Uint16(b.buf[n.off-2:])
	b.buf[n.off-2], b.buf[n.off-1] = n.refs|byte(min(n.kind, 1))<<3, byte(int(n.bits)/8+size)
	n.hash = uint32(len(b.hashes))
	if mask == 0 && n.kind == Ordinary {
		err = b.hashPlain(n, size)
	} else {
		err = b.hashLevels(n, size)
	}
	if err != nil || !n.stored {
		return err
	}
	return b.checkStored(n, before)
}

// checkStored compares the hashes and depths that the BoC stores in front of
// the data. The last depth is given, as the descriptors are in its place.
func (b *Bag) checkStored(n *node, last uint16) error {
	count := bits.OnesCount8(n.mask) + 1
	hashes := b.buf[int(n.off)-count*(32+2):]
	depths := hashes[32*count:]
	for j := range count {
		k := int(n.hash) + j
		depth := last
		if j < count-1 {
			depth = binary.BigEndian.Uint16(depths[2*j:])
		}
		if [32]byte(hashes[32*j:]) != b.hashes[k] || depth != b.depths[k] {
			return ErrHash
		}
	}
	return nil
}

func (b *Bag) maskOf(n *node) (uint8, error) {
	var below uint8
	for _, r := range n.ref[:n.refs] {
		below |= b.nodes[r].mask
	}
	switch n.kind {
	case Ordinary:
		return below, nil
	case PrunedBranch:
		mask := b.buf[n.off+1]
		if n.refs != 0 || n.bits < 16 || mask == 0 || mask > 7 ||
			int(n.bits) != 16+bits.OnesCount8(mask)*(256+16) {
			return 0, fmt.Errorf("%w: pruned branch of %d bits, mask %d", ErrExotic, n.bits, mask)
		}
		return mask, nil
	case Library:
		if n.refs != 0 || n.bits != 8+256 {
			return 0, fmt.Errorf("%w: library of %d bits", ErrExotic, n.bits)
		}
		return 0, nil
	default:
		return below >> 1, b.checkMerkle(n)
	}
}

// checkMerkle compares what a Merkle proof or update says about its children.
func (b *Bag) checkMerkle(n *node) error {
	count := int(n.kind) - 2
	if int(n.refs) != count || int(n.bits) != 8+count*(256+16) {
		return fmt.Errorf("%w: merkle cell of %d bits, %d references", ErrExotic, n.bits, n.refs)
	}
	hashes := b.buf[n.off+1:]
	depths := hashes[32*count:]
	for j := range count {
		c := &b.nodes[n.ref[j]]
		if !bytes.Equal(hashes[32*j:32*j+32], b.hashes[c.hash][:]) ||
			binary.BigEndian.Uint16(depths[2*j:]) != b.depths[c.hash] {
			return fmt.Errorf("%w: merkle cell does not match its child %d", ErrExotic, j)
		}
	}
	return nil
}

// hashPlain hashes an ordinary cell of level 0, whose children have level 0.
func (b *Bag) hashPlain(n *node, size int) error {
	repr := b.buf[n.off-2 : int(n.off)+size]
	if n.refs == 0 {
		b.hashes = append(b.hashes, sha256.Sum256(repr))
		b.depths = append(b.depths, 0)
		return nil
	}
	w := b.work[:]
	at := copy(w, repr)
	var depth uint16
	for _, r := range n.ref[:n.refs] {
		d := b.depths[b.nodes[r].hash]
		binary.BigEndian.PutUint16(w[at:], d)
		at += 2
		depth = max(depth, d+1)
	}
	for _, r := range n.ref[:n.refs] {
		*(*[32]byte)(w[at:]) = b.hashes[b.nodes[r].hash]
		at += 32
	}
	if depth > MaxDepth {
		return fmt.Errorf("%w: depth %d", ErrLimit, depth)
	}
	b.hashes = append(b.hashes, sha256.Sum256(w[:at]))
	b.depths = append(b.depths, depth)
	return nil
}

// hashLevels hashes any cell, once for each level of its mask. The lower hashes
// of a pruned branch are its data.
func (b *Bag) hashLevels(n *node, size int) error {
	start := len(b.hashes)
	if n.kind == PrunedBranch {
		if err := b.takePruned(n); err != nil {
			return err
		}
		return b.hashLevel(n, b.buf[n.off:int(n.off)+size], levelOf(n.mask), levelOf(n.mask))
	}
	data := b.buf[n.off : int(n.off)+size]
	for level := 0; level <= levelOf(n.mask); level++ {
		if level > 0 && n.mask>>(level-1)&1 == 0 {
			continue
		}
		below := level
		if n.kind >= MerkleProof {
			below++
		}
		if len(b.hashes) > start {
			data = b.hashes[len(b.hashes)-1][:]
		}
		if err := b.hashLevel(n, data, level, below); err != nil {
			return err
		}
	}
	return nil
}

// takePruned puts the hashes and depths that a pruned branch carries in front
// of its own.
func (b *Bag) takePruned(n *node) error {
	count := bits.OnesCount8(n.mask)
	hashes := b.buf[n.off+2:]
	depths := hashes[32*count:]
	for j := range count {
		d := binary.BigEndian.Uint16(depths[2*j:])
		if d > MaxDepth {
			return fmt.Errorf("%w: depth %d", ErrLimit, d)
		}
		b.hashes = append(b.hashes, [32]byte(hashes[32*j:]))
		b.depths = append(b.depths, d)
	}
	return nil
}

// hashLevel appends the hash of a cell at a level, where data is the cell's
// data or its hash at the level before, and children are taken at level below.
func (b *Bag) hashLevel(n *node, data []byte, level, below int) error {
	w := b.work[:]
	w[0] = b.buf[n.off-2] | n.mask&(1<<level-1)<<5
	w[1] = b.buf[n.off-1]
	at := 2 + copy(w[2:], data)
	var depth uint16
	for _, r := range n.ref[:n.refs] {
		c := &b.nodes[r]
		d := b.depths[c.hash+hashIndex(c.mask, below)]
		binary.BigEndian.PutUint16(w[at:], d)
		at += 2
		depth = max(depth, d+1)
	}
	for _, r := range n.ref[:n.refs] {
		c := &b.nodes[r]
		at += copy(w[at:], b.hashes[c.hash+hashIndex(c.mask, below)][:])
	}
	if depth > MaxDepth {
		return fmt.Errorf("%w: depth %d", ErrLimit, depth)
	}
	b.hashes = append(b.hashes, sha256.Sum256(w[:at]))
	b.depths = append(b.depths, depth)
	return nil
}

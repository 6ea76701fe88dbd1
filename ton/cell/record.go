package cell

import "fmt"

// A store of cells keeps records: one for each cell with references, under the
// hash of the cell. A record is the two descriptors of a BoC and the data, and
// for each reference either a zero and the hash of the cell, whose own record
// has it, or, for a cell without references, the length of its record and that
// record. Levels and depths above the cell's own are left out, so the same cell
// gives the same record wherever it was found.

// byHash stands in front of the hash of a reference.
const byHash = 0

// maxRecord is the size of the largest record: four cells without references.
const maxRecord = 2 + 128 + 4*(1+2+128)

// Recorder makes records of the cells of one Bag. The zero Recorder is ready for
// Begin. Not for use by several goroutines.
type Recorder struct {
	// Leaves makes cells without references have records of their own, besides
	// those that are in the records of others.
	Leaves bool

	seen  []uint32 // by cell: the round, and the Merkle depths at which it was recorded
	round uint32   // since the last Begin
	work  [maxRecord]byte
	add   func(hash *[32]byte, record []byte) bool
}

// depthBits are the low bits of seen, one for each Merkle depth.
const depthBits = 4

// Begin forgets which cells were recorded: those of a Bag are next. It costs
// nothing, so that it can be called for every tree whose records must be whole
// by themselves.
func (r *Recorder) Begin(b *Bag) {
	if n := len(b.nodes); len(r.seen) < n {
		r.seen, r.round = make([]uint32, n+n/2), 0
	}
	if r.round++; r.round == 1<<(32-depthBits) {
		clear(r.seen)
		r.round = 1
	}
}

// first reports whether a cell was not recorded at the depth in this round, and that
// now it is.
func (r *Recorder) first(cell uint32, depth int) bool {
	seen := r.seen[cell]
	if seen>>depthBits != r.round {
		seen = r.round << depthBits
	}
	r.seen[cell] = seen | 1<<depth
	return seen&(1<<depth) == 0
}

// Record hands out the records of root, even without references, and of every
// cell with references below it that was not recorded since Begin. A pruned
// branch of the Merkle update or proof that root lies in ends the walk. What add
// is given is good until it returns; false ends the walk. The cells must have their
// hashes.
func (r *Recorder) Record(root Cell, add func(hash *[32]byte, record []byte) bool) {
	if prunedAt(root, 0) {
		return
	}
	r.add = add
	r.record(root, 0)
	r.add = nil
}

// prunedAt reports whether c stands for a cell outside of the tree when depth Merkle
// cells are above it.
func prunedAt(c Cell, depth int) bool { return c.Kind() == PrunedBranch && c.Level() > depth }

func (r *Recorder) record(c Cell, depth int) bool {
	if depth >= depthBits || !r.first(c.i, depth) {
		return true
	}
	n := &c.bag.nodes[c.i]
	below := depth
	if n.kind >= MerkleProof {
		below++
	}
	at := c.put(r.work[:0], depth)
	for i := range int(n.refs) {
		child := c.Ref(i)
		if child.Refs() == 0 && !prunedAt(child, below) {
			size := len(at)
			at = child.put(append(at, 0), below)
			at[size] = byte(len(at) - size - 1)
			continue
		}
		at = append(at, byHash)
		at = append(at, child.HashAt(below)[:]...)
	}
	if !r.add(c.HashAt(depth), at) {
		return false
	}
	for i := range int(n.refs) {
		if child := c.Ref(i); (child.Refs() > 0 || r.Leaves && !prunedAt(child, below)) && !r.record(child, below) {
			return false
		}
	}
	return true
}

// put appends descriptors and data of a cell with depth Merkle cells above it.
func (c Cell) put(dst []byte, depth int) []byte {
	n := &c.bag.nodes[c.i]
	at := len(dst)
	dst = append(dst, c.bag.buf[n.off-2:int(n.off)+(int(n.bits)+7)/8]...)
	dst[at] |= n.mask & (1<<depth - 1) << 5
	return dst
}

// Absent is the error about a cell that the records do not have.
type Absent struct{ Hash [32]byte }

func (a *Absent) Error() string { return fmt.Sprintf("no record of cell %x", a.Hash) }

// Reset empties the Bag for cells to be added.
func (b *Bag) Reset() {
	b.empty()
	b.hashes, b.depths = b.hashes[:min(unhashed, len(b.hashes))], b.depths[:min(unhashed, len(b.depths))]
}

// Open adds the cell of a record. A reference to another record becomes a pruned
// branch, of which only HashAt(0) is right.
func (b *Bag) Open(record []byte) (Cell, error) { return b.fromRecord(record, b.stub) }

// fromRecord adds the cell of a record; find adds the cells that it names by hash.
func (b *Bag) fromRecord(record []byte, find func(hash *[32]byte) (Cell, error)) (Cell, error) {
	n, data, rest, err := readRecord(record)
	if err != nil {
		return Cell{}, err
	}
	for i := range int(n.refs) {
		var child Cell
		switch {
		case len(rest) > 32 && rest[0] == byHash:
			child, err = find((*[32]byte)(rest[1:33]))
			rest = rest[33:]
		case len(rest) > 0 && rest[0] != byHash && len(rest) > int(rest[0]):
			size := 1 + int(rest[0])
			child, err = b.leaf(rest[1:size])
			rest = rest[size:]
		default:
			err = fmt.Errorf("%w: record ends in a reference", ErrFormat)
		}
		if err != nil {
			return Cell{}, err
		}
		n.ref[i] = child.i
		if n.kind == Ordinary {
			n.mask |= b.nodes[child.i].mask // of a stub, whose record does not have it
		}
	}
	return b.add(n, data)
}

// stub adds a pruned branch for a cell that is not there.
func (b *Bag) stub(hash *[32]byte) (Cell, error) {
	var data [2 + 32 + 2]byte
	data[0], data[1] = byte(PrunedBranch), 1
	copy(data[2:], hash[:])
	return b.add(node{kind: PrunedBranch, bits: 8 * uint16(len(data)), mask: 1}, data[:])
}

func (b *Bag) leaf(record []byte) (Cell, error) {
	n, data, rest, err := readRecord(record)
	if err != nil || n.refs != 0 || len(rest) != 0 {
		return Cell{}, fmt.Errorf("%w: record of a cell without references", ErrFormat)
	}
	return b.add(n, data)
}

// readRecord reads the part before the references.
func readRecord(record []byte) (n node, data, rest []byte, err error) {
	if len(record) < 2 {
		return n, nil, nil, fmt.Errorf("%w: record of %d bytes", ErrFormat, len(record))
	}
	d1, d2 := record[0], record[1]
	size := int(d2>>1) + int(d2&1)
	n = node{refs: d1 & 7, mask: d1 >> 5}
	if n.refs > 4 || len(record) < 2+size {
		return n, nil, nil, fmt.Errorf("%w: record of %d bytes with descriptors %02x%02x", ErrFormat, len(record), d1, d2)
	}
	data, rest = record[2:2+size], record[2+size:]
	return n, data, rest, n.describe(d1, d2, data)
}

// Assembler builds trees out of records. The zero Assembler is ready; its trees
// are good until the next one. Not for use by several goroutines.
type Assembler struct {
	bag  Bag
	done map[[32]byte]Cell
	left int
	load func(hash *[32]byte) ([]byte, error)
}

// Assemble builds the tree below the cell with the hash, of at most limit
// different cells with references. load gives a record, nil when there is none:
// then the error is an *Absent. The hashes of all cells are computed, so the tree
// is what the hash stands for.
func (a *Assembler) Assemble(hash *[32]byte, limit int, load func(hash *[32]byte) ([]byte, error)) (Cell, error) {
	a.bag.Reset()
	if a.done == nil {
		a.done = map[[32]byte]Cell{}
	}
	clear(a.done)
	a.left, a.load = limit, load
	defer func() { a.load = nil }()
	return a.assemble(hash, 0)
}

func (a *Assembler) assemble(hash *[32]byte, depth int) (Cell, error) {
	if c, ok := a.done[*hash]; ok {
		return c, nil
	}
	if a.left--; a.left < 0 || depth > MaxDepth {
		return Cell{}, fmt.Errorf("%w: tree with too many cells", ErrLimit)
	}
	record, err := a.load(hash)
	if err != nil {
		return Cell{}, err
	}
	if record == nil {
		return Cell{}, &Absent{*hash}
	}
	c, err := a.bag.fromRecord(record, func(hash *[32]byte) (Cell, error) { return a.assemble(hash, depth+1) })
	if err != nil {
		return Cell{}, err
	}
	if *c.Hash() != *hash {
		return Cell{}, fmt.Errorf("%w: record of cell %x has the hash %x", ErrHash, *hash, *c.Hash())
	}
	a.done[*hash] = c
	return c, nil
}

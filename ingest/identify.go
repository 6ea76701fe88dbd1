package ingest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// errNoBlock says that a BoC holds something else: a state, a proof, an account.
var errNoBlock = errors.New("not a block")

const (
	bocGeneric    = 0xb5ee9c72 // serialized_boc
	bocIndexed    = 0x68ff65f3 // serialized_boc_idx
	bocIndexedCRC = 0xacc3a728 // serialized_boc_idx_crc32c

	tagBlock     = 0x11ef55aa
	tagBlockInfo = 0x9bc7a987
)

// identify reads just so much of a BoC as tells which block it is: cells are
// walked over, not built, until the root and the block_info under it have been
// seen. The answer is a claim, to be verified when the block is used.
func identify(source io.Reader) (blockID, error) {
	w := cellWalker{r: bufio.NewReaderSize(source, 16<<10)}
	if err := w.header(); err != nil {
		return blockID{}, err
	}
	root, err := w.seek(w.root)
	if err != nil {
		return blockID{}, err
	}
	if len(root.data) < 4 || root.special || binary.BigEndian.Uint32(root.data) != tagBlock || root.refs == 0 {
		return blockID{}, errNoBlock
	}
	if root.refIndex[0] <= w.root {
		return blockID{}, errors.New("reference to an earlier cell")
	}
	info, err := w.seek(root.refIndex[0])
	if err != nil {
		return blockID{}, err
	}
	return readBlockInfo(info.data)
}

// readBlockInfo takes the fields of block_info (block.tlb) that name the block:
// tag:32 version:32 eight flags, flags:8 seq_no:32 vert_seq_no:32 shard:ShardIdent
// (two zero bits, prefix length:6, workchain:32, prefix:64).
func readBlockInfo(data []byte) (blockID, error) {
	if len(data) < 31 || binary.BigEndian.Uint32(data) != tagBlockInfo {
		return blockID{}, errNoBlock
	}
	length := data[18]
	if length > 60 {
		return blockID{}, fmt.Errorf("shard prefix of %d bits", length)
	}
	prefix := binary.BigEndian.Uint64(data[23:])
	return blockID{
		workchain: int32(binary.BigEndian.Uint32(data[19:])),
		shard:     prefix | 1<<(63-length),
		seqno:     binary.BigEndian.Uint32(data[10:]),
	}, nil
}

// cellWalker goes over the cells of a BoC in the order in which they lie there.
type cellWalker struct {
	r        *bufio.Reader
	err      error // the first
	refSize  int
	cells    int
	root     int
	next     int
	scratch  [8]byte
	cellData [128]byte
}

type walkedCell struct {
	data     []byte
	special  bool
	refs     int
	refIndex [4]int
}

func (w *cellWalker) header() error {
	magic := w.number(4)
	if w.err != nil || magic != bocGeneric && magic != bocIndexed && magic != bocIndexedCRC {
		return errNoBlock
	}
	flags, offsetSize := w.number(1), w.number(1)
	w.refSize = flags & 7
	if w.err == nil && (w.refSize < 1 || w.refSize > 4 || offsetSize < 1 || offsetSize > 8) {
		w.err = errors.New("bad sizes in the boc header")
	}
	w.cells = w.number(w.refSize)
	roots := w.number(w.refSize)
	w.number(w.refSize) // absent cells
	w.number(offsetSize)
	if w.err == nil && roots != 1 {
		return errNoBlock // proofs come with several roots
	}
	if magic == bocGeneric {
		w.root = w.number(w.refSize)
	}
	if magic != bocGeneric || flags&0x80 != 0 {
		w.discard(w.cells * offsetSize)
	}
	return w.err
}

// seek walks on to the cell with an index at or after the current one.
func (w *cellWalker) seek(index int) (walkedCell, error) {
	if index < w.next || index >= w.cells {
		return walkedCell{}, fmt.Errorf("no cell %d among %d", index, w.cells)
	}
	for {
		c, err := w.cell()
		if err != nil {
			return walkedCell{}, err
		}
		if w.next++; w.next > index {
			return c, nil
		}
	}
}

func (w *cellWalker) cell() (c walkedCell, err error) {
	head := w.number(2)
	d1, d2 := head>>8, head&0xff
	c.refs, c.special = d1&7, d1&8 != 0
	if c.refs > 4 {
		return c, errors.New("bad cell descriptor")
	}
	if d1&16 != 0 { // hashes and depths are stored with the cell
		w.discard((bits.OnesCount(uint(d1>>5)) + 1) * (32 + 2))
	}
	c.data = w.cellData[:d2>>1+d2&1]
	w.read(c.data)
	for i := range c.refs {
		c.refIndex[i] = w.number(w.refSize)
	}
	return c, w.err
}

// number reads a big-endian number, 0 after an error.
func (w *cellWalker) number(size int) (n int) {
	if w.err != nil {
		return 0
	}
	b := w.scratch[:size]
	if w.read(b); w.err != nil {
		return 0
	}
	for _, x := range b {
		n = n<<8 | int(x)
	}
	return n
}

func (w *cellWalker) read(b []byte) {
	if w.err == nil {
		_, w.err = io.ReadFull(w.r, b)
	}
}

func (w *cellWalker) discard(n int) {
	if w.err == nil {
		_, w.err = w.r.Discard(n)
	}
}

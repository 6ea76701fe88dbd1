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
func identify(source io.Reader) (place, error) {
	w := cellWalker{r: bufio.NewReaderSize(source, 16<<10)}
	if err := w.header(); err != nil {
		return place{}, err
	}
	root, err := w.seek(w.root)
	if err != nil {
		return place{}, err
	}
	if len(root.data) < 4 || root.special || binary.BigEndian.Uint32(root.data) != tagBlock || root.refs == 0 {
		return place{}, errNoBlock
	}
	if root.refIndex[0] <= w.root {
		return place{}, errors.New("reference to an earlier cell")
	}
	info, err := w.seek(root.refIndex[0])
	if err != nil {
		return place{}, err
	}
	return readBlockInfo(info.data)
}

// readBlockInfo takes the fields of block_info (block.tlb) that name the block:
// tag:32 version:32 eight flags, flags:8 seq_no:32 vert_seq_no:32 shard:ShardIdent
// (two zero bits, prefix length:6, workchain:32, prefix:64).
func readBlockInfo(data []byte) (place, error) {
	if len(data) < 31 || binary.BigEndian.Uint32(data) != tagBlockInfo {
		return place{}, errNoBlock
	}
	length := data[18]
	if length > 60 {
		return place{}, fmt.Errorf("shard prefix of %d bits", length)
	}
	prefix := binary.BigEndian.Uint64(data[23:])
	return place{
		workchain: int32(binary.BigEndian.Uint32(data[19:])),
		shard:     prefix | 1<<(63-length),
		seqno:     binary.BigEndian.Uint32(data[10:]),
	}, nil
}

// cellWalker goes over the cells of a BoC in the order in which they lie there.
type cellWalker struct {
	r        *bufio.Reader
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
	magic, err := w.number(4)
	if err != nil {
		return errNoBlock
	}
	if magic != bocGeneric && magic != bocIndexed && magic != bocIndexedCRC {
		return errNoBlock
	}
	flags, err := w.number(1)
	if err != nil {
		return err
	}
	offsetSize, err := w.number(1)
	if err != nil {
		return err
	}
	w.refSize = flags & 7
	if w.refSize < 1 || w.refSize > 4 || offsetSize < 1 || offsetSize > 8 {
		return errors.New("bad sizes in the boc header")
	}
	var counts [3]int // cells, roots, absent
	for i := range counts {
		n, err := w.number(w.refSize)
		if err != nil {
			return err
		}
		counts[i] = n
	}
	if _, err := w.number(offsetSize); err != nil {
		return err
	}
	w.cells = counts[0]
	return w.skipLists(magic, flags, offsetSize, counts[1])
}

// skipLists passes the list of roots, of which there must be one, and the index.
func (w *cellWalker) skipLists(magic, flags, offsetSize, roots int) error {
	if roots != 1 {
		return errNoBlock // proofs come with several roots
	}
	indexed := true
	if magic == bocGeneric {
		indexed = flags&0x80 != 0
		root, err := w.number(w.refSize)
		if err != nil {
			return err
		}
		w.root = root
	}
	if indexed {
		if _, err := w.r.Discard(w.cells * offsetSize); err != nil {
			return err
		}
	}
	return nil
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

func (w *cellWalker) cell() (walkedCell, error) {
	var c walkedCell
	head, err := w.number(2)
	if err != nil {
		return c, err
	}
	d1, d2 := head>>8, head&0xff
	c.refs, c.special = d1&7, d1&8 != 0
	if c.refs > 4 {
		return c, errors.New("bad cell descriptor")
	}
	if d1&16 != 0 { // hashes and depths are stored with the cell
		if _, err := w.r.Discard((bits.OnesCount(uint(d1>>5)) + 1) * (32 + 2)); err != nil {
			return c, err
		}
	}
	c.data = w.cellData[:d2>>1+d2&1]
	if _, err := io.ReadFull(w.r, c.data); err != nil {
		return c, err
	}
	for i := range c.refs {
		if c.refIndex[i], err = w.number(w.refSize); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (w *cellWalker) number(size int) (int, error) {
	b := w.scratch[:size]
	if _, err := io.ReadFull(w.r, b); err != nil {
		return 0, err
	}
	n := 0
	for _, x := range b {
		n = n<<8 | int(x)
	}
	return n, nil
}

package cell

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Marks of cells that Writer.place has not numbered yet.
const (
	fresh   = -1
	scanned = -2
	linked  = -3
)

// maxWeight is the weight up to which a subtree is written without a break
// between its cells.
const maxWeight = 64

// item is a cell in the order in which the tree is walked.
type item struct {
	cell   uint32
	ref    [4]int32
	refs   uint8
	weight uint8
	number int32 // in the order of writing, from the end
}

// Writer writes BoCs with one root. It keeps its scratch memory for the next
// one; the zero Writer is ready. Not for use by several goroutines.
type Writer struct {
	bag   *Bag
	items []item
	order []int32 // items by number
	slots []slot
	mask  uint32
	round uint32
	bytes int // of the cells without references
	links int
}

// slot of the table that finds an item by its hash; it is empty when its round
// is not the Writer's.
type slot struct {
	round uint32
	item  int32
}

// Prepare walks the tree below root and returns the size of its BoC, which
// Append then writes. Cells with the same hash are written once. More than
// limit bytes of cells fail with ErrLimit.
func (w *Writer) Prepare(root Cell, limit int) (int, error) {
	w.bag, w.items, w.order = root.bag, w.items[:0], w.order[:0]
	w.bytes, w.links = 0, 0
	if w.slots == nil {
		w.slots = make([]slot, 64)
		w.mask = 63
	}
	w.round++
	if w.round == 0 {
		clear(w.slots)
		w.round = 1
	}
	if _, err := w.collect(root.i, limit); err != nil {
		return 0, err
	}
	w.weigh()
	top := int32(len(w.items) - 1)
	w.place(top, scan)
	w.place(top, link)
	w.place(top, assign)
	refSize, offSize := w.sizes()
	return 4 + 2 + 3*refSize + offSize + refSize + w.bytes + w.links*refSize + 4, nil
}

// Cells is the number of cells of the prepared tree, each counted once.
func (w *Writer) Cells() int { return len(w.items) }

// sizes are the bytes of a reference and of an offset.
func (w *Writer) sizes() (refSize, offSize int) {
	refSize, offSize = 1, 1
	for len(w.items) >= 1<<(8*refSize) {
		refSize++
	}
	for w.bytes+w.links*refSize >= 1<<(8*offSize) {
		offSize++
	}
	return refSize, offSize
}

// collect gives the cell and everything below it a place in items, children
// first, and returns that place.
func (w *Writer) collect(i uint32, limit int) (int32, error) {
	n := &w.bag.nodes[i]
	hash := &w.bag.hashes[n.hash+hashIndex(n.mask, 3)]
	at := w.find(hash)
	if s := w.slots[at]; s.round == w.round {
		return s.item, nil
	}
	it := item{cell: i, refs: n.refs, number: fresh}
	weight := 1
	for j := range int(n.refs) {
		k, err := w.collect(n.ref[j], limit)
		if err != nil {
			return 0, err
		}
		it.ref[j] = k
		weight += int(w.items[k].weight)
	}
	it.weight = uint8(min(weight, 255))
	w.bytes += 2 + (int(n.bits)+7)/8
	w.links += int(n.refs)
	if w.bytes > limit {
		return 0, fmt.Errorf("%w: cell tree of more than %d bytes", ErrLimit, limit)
	}
	k := int32(len(w.items))
	w.items = append(w.items, it)
	w.enter(hash, k)
	return k, nil
}

// find returns the slot of the hash, or the empty one where it belongs.
func (w *Writer) find(hash *[32]byte) uint32 {
	at := binary.LittleEndian.Uint32(hash[:]) & w.mask
	for {
		s := w.slots[at]
		if s.round != w.round {
			return at
		}
		n := &w.bag.nodes[w.items[s.item].cell]
		if w.bag.hashes[n.hash+hashIndex(n.mask, 3)] == *hash {
			return at
		}
		at = (at + 1) & w.mask
	}
}

func (w *Writer) enter(hash *[32]byte, k int32) {
	if len(w.items)*2 > len(w.slots) {
		w.slots = make([]slot, 4*len(w.slots))
		w.mask = uint32(len(w.slots) - 1)
		for j := range w.items[:k] {
			n := &w.bag.nodes[w.items[j].cell]
			h := &w.bag.hashes[n.hash+hashIndex(n.mask, 3)]
			w.slots[w.find(h)] = slot{w.round, int32(j)}
		}
	}
	w.slots[w.find(hash)] = slot{w.round, k}
}

// weigh decides which subtrees stay together: as the reference serializer
// (BagOfCells::reorder_cells) does, so that the same tree gives the same bytes.
func (w *Writer) weigh() {
	for i := len(w.items) - 1; i >= 0; i-- {
		w.limitChildren(&w.items[i])
	}
	for i := range w.items {
		it := &w.items[i]
		sum := 1
		for _, k := range it.ref[:it.refs] {
			sum += int(w.items[k].weight)
		}
		if sum <= int(it.weight) {
			it.weight = uint8(sum)
		} else {
			it.weight = 0
		}
	}
}

func (w *Writer) limitChildren(it *item) {
	n := int(it.refs)
	heavy, sum := n, maxWeight-1
	var light [4]bool
	for j, k := range it.ref[:n] {
		if weight := int(w.items[k].weight); weight <= (maxWeight-1+j)/n {
			sum -= weight
			heavy--
			light[j] = true
		}
	}
	for j, k := range it.ref[:n] {
		if light[j] {
			continue
		}
		limit := uint8(sum / heavy)
		sum++
		w.items[k].weight = min(w.items[k].weight, limit)
	}
}

// What place does with a cell: only look for cells that break the order below
// it, number its children, or number the cell itself.
const (
	scan = iota
	link
	assign
)

func (w *Writer) place(k int32, what int) {
	it := &w.items[k]
	if it.number >= 0 {
		return
	}
	n := int(it.refs)
	switch {
	case what == assign:
		it.number = int32(len(w.order))
		w.order = append(w.order, k)
	case what == scan && it.number == fresh:
		for j := n - 1; j >= 0; j-- {
			next := scan
			if w.items[it.ref[j]].weight == 0 {
				next = link
			}
			w.place(it.ref[j], next)
		}
		it.number = scanned
	case what == link && it.number != linked:
		if it.weight == 0 {
			w.place(k, scan)
		}
		for j := n - 1; j >= 0; j-- {
			w.place(it.ref[j], link)
		}
		for j := n - 1; j >= 0; j-- {
			w.place(it.ref[j], assign)
		}
		it.number = linked
	}
}

// Append writes the BoC of the prepared tree after dst: with CRC-32C, without
// index and stored hashes, cells in the order of the reference serializer.
func (w *Writer) Append(dst []byte) []byte {
	start := len(dst)
	refSize, offSize := w.sizes()
	dst = append(dst, 0xb5, 0xee, 0x9c, 0x72, byte(0x40|refSize), byte(offSize))
	dst = appendNumber(dst, len(w.items), refSize)
	dst = appendNumber(dst, 1, refSize)
	dst = appendNumber(dst, 0, refSize)
	dst = appendNumber(dst, w.bytes+w.links*refSize, offSize)
	dst = appendNumber(dst, 0, refSize)
	last := int32(len(w.order) - 1)
	for i := last; i >= 0; i-- {
		it := &w.items[w.order[i]]
		n := &w.bag.nodes[it.cell]
		at := len(dst)
		dst = append(dst, w.bag.buf[n.off-2:int(n.off)+(int(n.bits)+7)/8]...)
		dst[at] |= n.mask << 5
		for _, k := range it.ref[:it.refs] {
			dst = appendNumber(dst, int(last-w.items[k].number), refSize)
		}
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func appendNumber(dst []byte, v, size int) []byte {
	for i := size - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// AppendBoC writes the BoC of the tree below root after dst, which grows as
// needed.
func (w *Writer) AppendBoC(dst []byte, root Cell) ([]byte, error) {
	if _, err := w.Prepare(root, MaxSize); err != nil {
		return dst, err
	}
	return w.Append(dst), nil
}

// BoC is the BoC of the tree below root, with CRC-32C.
func BoC(root Cell) ([]byte, error) { return new(Writer).AppendBoC(nil, root) }

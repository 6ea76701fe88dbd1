package synthetic

import (
	"encoding/binary"
	"math/rand/v2"

	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/ton/cell"
)

// cells makes cells of bytes.
type cells struct {
	bag    cell.Bag
	writer cell.Writer
	kept   int // cells of the bag that stay
}

const cellBytes = 120 // per cell: 127 is the most

// of is the root of a chain of cells with the bytes, until the next one is made.
func (c *cells) of(data []byte) (root cell.Cell) {
	c.bag.Truncate(c.kept)
	for at := max(0, len(data)-1) / cellBytes * cellBytes; at >= 0; at -= cellBytes {
		var u cell.Builder
		part := data[at:min(len(data), at+cellBytes)]
		u.StoreBytes(part, 8*len(part))
		if root.Valid() {
			u.StoreRef(root)
		}
		root = must(c.bag.Add(&u))
	}
	return root
}

func (c *cells) boc(root cell.Cell) []byte { return must(c.writer.AppendBoC(nil, root)) }

// must is for what cannot fail with values that are made here.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// body is a message body.
type body struct {
	root   cell.Cell
	boc    []byte
	opcode *uint32
}

// bodies makes message bodies: a tenth empty, a tenth from a pool of a thousand
// (texts and calls that repeat), the others unique, with 64 operation codes of
// falling frequency. One that is neither empty nor from the pool is a body until
// the next one is made.
type bodies struct {
	cells
	random  *rand.Rand
	opcodes [64]uint32
	empty   body
	pool    [1000]body
}

const (
	shortestBody     = 12
	maxBody          = 300
	maxPooled        = 72
	bouncedBodyBytes = 36
)

func newBodies(random *rand.Rand) *bodies {
	b := &bodies{random: random}
	for i := range b.opcodes {
		b.opcodes[i] = random.Uint32()
	}
	keep := func(body body) body {
		b.kept = b.bag.Len()
		return body
	}
	b.empty = keep(b.body(nil, nil))
	for i := range b.pool {
		b.pool[i] = keep(b.fresh(maxPooled))
	}
	return b
}

func (b *bodies) body(opcode *uint32, data []byte) body {
	root := b.of(data)
	return body{root, b.boc(root), opcode}
}

func (b *bodies) next() body {
	switch b.random.IntN(10) {
	case 0:
		return b.empty
	case 1:
		return b.pool[b.random.IntN(len(b.pool))]
	}
	return b.fresh(maxBody)
}

func (b *bodies) fresh(longest int) body {
	size := shortestBody + b.random.IntN(longest-shortestBody+1)
	data := make([]byte, size+8)
	fill(data, b.random)
	opcode := &b.opcodes[min(b.random.IntN(64), b.random.IntN(64))]
	binary.BigEndian.PutUint32(data, *opcode)
	return b.body(opcode, data[:size])
}

// bounced is what comes back: 0xffffffff and the beginning of the body.
func (b *bodies) bounced() body {
	opcode := ^uint32(0)
	data := make([]byte, bouncedBodyBytes)
	binary.BigEndian.PutUint32(data, opcode)
	fill(data[4:], b.random)
	return b.body(&opcode, data)
}

// fill makes all whole groups of eight bytes random.
func fill(dst []byte, random *rand.Rand) {
	for ; len(dst) >= 8; dst = dst[8:] {
		binary.LittleEndian.PutUint64(dst, random.Uint64())
	}
}

// seal gives a message that is complete otherwise its body and its hashes.
func (b *body) seal(m *record.Message) {
	m.Body, m.Opcode = b.boc, b.opcode
	must(m, stored.SetHashes(m, b.root))
}

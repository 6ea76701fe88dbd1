package synthetic

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// body is a message body with its real hash.
type body struct {
	data   []byte
	boc    []byte
	hash   []byte
	opcode *uint32
}

// bodies makes message bodies: a tenth empty, a tenth from a pool of a thousand
// (texts and calls that repeat), the others unique, with 64 operation codes of
// falling frequency.
type bodies struct {
	random  *rand.Rand
	opcodes [64]uint32
	empty   body
	pool    [1000]body
}

const (
	cellBytes        = 120 // of a body per cell: 127 is the most
	shortestBody     = 12
	longestBody      = 300
	longestPooled    = 72
	bouncedBodyBytes = 36
)

func newBodies(random *rand.Rand) *bodies {
	b := &bodies{random: random}
	for i := range b.opcodes {
		b.opcodes[i] = random.Uint32()
	}
	b.empty.boc, b.empty.hash = bagOfBytes(nil)
	for i := range b.pool {
		b.pool[i] = b.fresh(longestPooled)
	}
	return b
}

func (b *bodies) next() body {
	switch b.random.IntN(10) {
	case 0:
		return b.empty
	case 1:
		return b.pool[b.random.IntN(len(b.pool))]
	}
	return b.fresh(longestBody)
}

func (b *bodies) fresh(longest int) body {
	data := make([]byte, shortestBody+b.random.IntN(longest-shortestBody+1)+8)
	for i := 0; i+8 <= len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], b.random.Uint64())
	}
	return bodyOf(&b.opcodes[min(b.random.IntN(64), b.random.IntN(64))], data[:len(data)-8])
}

// bounced is what comes back: 0xffffffff and the beginning of the body.
func (b *bodies) bounced() body {
	data := make([]byte, bouncedBodyBytes)
	for i := 4; i < len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], b.random.Uint64())
	}
	opcode := ^uint32(0)
	return bodyOf(&opcode, data)
}

func bodyOf(opcode *uint32, data []byte) body {
	binary.BigEndian.PutUint32(data, *opcode)
	out := body{opcode: opcode, data: data}
	out.boc, out.hash = bagOfBytes(data)
	return out
}

// cellsOf is how many cells hold so many bytes.
func cellsOf(size int) int { return max(1, (size+cellBytes-1)/cellBytes) }

// bagOfBytes is a bag of cells with CRC-32C of a chain of cells with the bytes,
// and the hash of its root.
func bagOfBytes(data []byte) (boc, hash []byte) {
	n := cellsOf(len(data))
	total := len(data) + 3*n - 1 // two descriptors a cell, a reference each but in the last
	boc = make([]byte, 0, 13+total+4)
	boc = append(boc, 0xb5, 0xee, 0x9c, 0x72, 0x41, 2, byte(n), 1, 0, byte(total>>8), byte(total), 0)
	for i := range n {
		part := data[i*cellBytes : min(len(data), (i+1)*cellBytes)]
		last := i == n-1
		if last {
			boc = append(append(boc, 0, byte(2*len(part))), part...)
		} else {
			boc = append(append(append(boc, 1, byte(2*len(part))), part...), byte(i+1))
		}
	}
	boc = binary.LittleEndian.AppendUint32(boc, crc32.Checksum(boc, castagnoli))
	return boc, hashOfBytes(data, n)
}

func hashOfBytes(data []byte, n int) []byte {
	var buffer [2 + cellBytes + 2 + 32]byte
	var below [32]byte
	for i := n - 1; i >= 0; i-- {
		part := data[i*cellBytes : min(len(data), (i+1)*cellBytes)]
		cell := append(buffer[:0], 0, byte(2*len(part)))
		cell = append(cell, part...)
		if depth := n - 1 - i; depth > 0 {
			cell[0] = 1
			cell = append(cell, byte((depth-1)>>8), byte(depth-1))
			cell = append(cell, below[:]...)
		}
		below = sha256.Sum256(cell)
	}
	return below[:]
}

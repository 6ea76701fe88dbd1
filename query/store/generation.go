package store

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"golang.org/x/sys/unix"

	"tonscribe/query/sql"
)

// generation is a part of a shelf. A whole generation goes when the one after it
// is full; what is asked for meanwhile is put into that one. The garbage collector
// knows nothing of its slabs.
type generation struct {
	at    map[uint64]uint32 // by the key of a sql.AccountKey: slab and place in it
	slabs [][]byte
	free  int // of the last slab, where it begins
	bytes int
}

const (
	slabBytes = 4 << 20
	// shelfStep is what entries begin at multiples of in a slab.
	shelfStep = slabBytes >> 16
	// shelfHeader is in front of an entry: the spot and the length of the records.
	shelfHeader = 4 + 8 + 4
	// shelfOverhead is about what an entry takes outside of the slabs.
	shelfOverhead = 32
)

func keyOf(a sql.AccountKey) uint64 { return maphash.Comparable(seed, a) }

// get gives the records of the accounts at a sql.AccountKey, each after its length. They are
// good until the generation goes.
func (g *generation) get(at sql.AccountKey) ([]byte, bool) {
	place, ok := g.at[keyOf(at)]
	if !ok {
		return nil, false
	}
	entry := g.slabs[place>>16][place&0xffff*shelfStep:]
	if (sql.AccountKey{Workchain: int32(binary.LittleEndian.Uint32(entry)), Prefix: binary.LittleEndian.Uint64(entry[4:])}) != at {
		return nil, false
	}
	return entry[shelfHeader:][:binary.LittleEndian.Uint32(entry[12:])], true
}

func (g *generation) put(at sql.AccountKey, records []byte) error {
	size := (shelfHeader + len(records) + shelfStep - 1) / shelfStep * shelfStep
	n := len(g.slabs) - 1
	if n < 0 || g.free+size > slabBytes {
		slab, err := unix.Mmap(-1, 0, slabBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return fmt.Errorf("memory to hold rows: %w", err)
		}
		g.slabs, g.free = append(g.slabs, slab), 0
		n++
	}
	if g.at == nil {
		g.at = map[uint64]uint32{}
	}
	entry := g.slabs[n][g.free:]
	binary.LittleEndian.PutUint32(entry, uint32(at.Workchain))
	binary.LittleEndian.PutUint64(entry[4:], at.Prefix)
	binary.LittleEndian.PutUint32(entry[12:], uint32(len(records)))
	copy(entry[shelfHeader:], records)
	g.at[keyOf(at)] = uint32(n<<16 | g.free/shelfStep)
	g.free += size
	g.bytes += size + shelfOverhead
	return nil
}

func (g *generation) remove(at sql.AccountKey) {
	if _, there := g.get(at); there {
		delete(g.at, keyOf(at))
	}
}

func (g *generation) release() {
	for _, slab := range g.slabs {
		_ = unix.Munmap(slab) // nothing can be done
	}
	*g = generation{}
}

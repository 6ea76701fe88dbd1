package cache

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"golang.org/x/sys/unix"

	"tonscribe/query/sql"
)

// segment is a part of a cache. A whole segment goes when the one after it
// is full; what is asked for meanwhile is put into that one. The garbage collector
// knows nothing of its arenas.
type segment struct {
	at     map[uint64]uint32 // by the hash of an account key: arena and offset in it
	arenas [][]byte
	free   int // of the last arena, where it begins
	bytes  int
}

const (
	arenaBytes = 4 << 20
	// entryStep is what entries begin at multiples of in an arena.
	entryStep = arenaBytes >> 16
	// entryHeader is in front of an entry: the account key and the length of the records.
	entryHeader = 4 + 8 + 4
	// entryOverhead is about what an entry takes outside of the arenas.
	entryOverhead = 32
)

// seed of the hashes: nobody can make accounts that share one.
var seed = maphash.MakeSeed()

func hashOf(a sql.AccountKey) uint64 { return maphash.Comparable(seed, a) }

// get gives the records of the accounts with a key, each after its length. They are
// good until the segment goes.
func (g *segment) get(at sql.AccountKey) ([]byte, bool) {
	place, ok := g.at[hashOf(at)]
	if !ok {
		return nil, false
	}
	entry := g.arenas[place>>16][place&0xffff*entryStep:]
	if (sql.AccountKey{Workchain: int32(binary.LittleEndian.Uint32(entry)), Prefix: binary.LittleEndian.Uint64(entry[4:])}) != at {
		return nil, false
	}
	return entry[entryHeader:][:binary.LittleEndian.Uint32(entry[12:])], true
}

func (g *segment) put(at sql.AccountKey, records []byte) error {
	size := (entryHeader + len(records) + entryStep - 1) / entryStep * entryStep
	n := len(g.arenas) - 1
	if n < 0 || g.free+size > arenaBytes {
		arena, err := unix.Mmap(-1, 0, arenaBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return fmt.Errorf("memory to hold rows: %w", err)
		}
		g.arenas, g.free = append(g.arenas, arena), 0
		n++
	}
	if g.at == nil {
		g.at = map[uint64]uint32{}
	}
	entry := g.arenas[n][g.free:]
	binary.LittleEndian.PutUint32(entry, uint32(at.Workchain))
	binary.LittleEndian.PutUint64(entry[4:], at.Prefix)
	binary.LittleEndian.PutUint32(entry[12:], uint32(len(records)))
	copy(entry[entryHeader:], records)
	g.at[hashOf(at)] = uint32(n<<16 | g.free/entryStep)
	g.free += size
	g.bytes += size + entryOverhead
	return nil
}

func (g *segment) remove(at sql.AccountKey) {
	if _, there := g.get(at); there {
		delete(g.at, hashOf(at))
	}
}

func (g *segment) release() {
	for _, arena := range g.arenas {
		_ = unix.Munmap(arena) // nothing can be done
	}
	*g = segment{}
}

package stage

import (
	"bytes"
	"hash/maphash"
	"math"

	"github.com/cockroachdb/pebble/v2"
)

// few tells which keys of the kinds StoreOptions.Few are certainly not in the store, without
// looking there: a Bloom filter of 2 MiB. The more there are, the less it helps: where there
// are a million, it lets one of eighty through that is not there.
type few struct {
	seed maphash.Seed
	bits [1 << fewBits / 64]uint64
}

const fewBits = 24

// of are the two bits of a key.
func (f *few) of(key []byte) (a, b uint64) {
	hash := maphash.Bytes(f.seed, key)
	return hash >> (64 - fewBits), hash & (1<<fewBits - 1)
}

func (f *few) add(key []byte) {
	a, b := f.of(key)
	f.bits[a/64] |= 1 << (a % 64)
	f.bits[b/64] |= 1 << (b % 64)
}

func (f *few) has(key []byte) bool {
	a, b := f.of(key)
	return f.bits[a/64]&(1<<(a%64)) != 0 && f.bits[b/64]&(1<<(b%64)) != 0
}

// maxFew is how many keys are gone through at most to make the filter. Where there are more,
// which strangers may bring about, it takes every key for one that may be there.
const maxFew = 4 << 20

// findFew makes the filter of the keys that are there.
func (s *Store) findFew(most int) (*few, error) {
	f, n := &few{seed: maphash.MakeSeed()}, 0
	for _, kind := range s.options.Few {
		if err := s.iterate([]byte{kind}, []byte{kind + 1}, func(it *pebble.Iterator) {
			for ok := it.First(); ok && n <= most; ok = it.Next() {
				f.add(it.Key())
				n++
			}
		}); err != nil {
			return nil, err
		}
	}
	if n > most {
		for i := range f.bits {
			f.bits[i] = math.MaxUint64
		}
	}
	return f, nil
}

// absent reports whether a key is certainly not there.
func (s *Store) absent(key []byte) (bool, error) {
	if bytes.IndexByte(s.options.Few, key[0]) < 0 {
		return false, nil
	}
	if s.few == nil {
		known, err := s.findFew(maxFew)
		if err != nil {
			return false, err
		}
		s.few = known
	}
	return !s.few.has(key), nil
}

// added is the key of a value that is being set, until the next call.
func (s *Store) added(kind byte, parts [][]byte) []byte {
	key := s.keyOf(kind, parts)
	if s.few != nil && bytes.IndexByte(s.options.Few, kind) >= 0 {
		s.few.add(key)
	}
	return key
}

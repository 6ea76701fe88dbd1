// Package synthetic makes chains that were never run: for benchmarks, which need
// more transactions than there are test blocks, and always the same ones.
//
// Two kinds. Rows (rows.go) makes decoded rows from a seed alone, in the
// proportions of the main network, for whatever comes after decoding. WriteChain
// (chain.go) makes block files from real blocks, for everything from the source
// on. Both are deterministic: the same options give the same bytes. Nothing
// made here may be taken for a chain that a node would accept, and no stage may
// import the package.
package synthetic

import "encoding/binary"

// Kinds of seeded values.
const (
	kindZeroState = iota + 1
	kindMask
	kindRandSeed

	kindAccount
	kindTransaction
	kindState
	kindActions
	kindRootHash
	kindFileHash
	kindRowRandSeed
	kindCreator
	kindCode
	kindData
)

// mix is splitmix64's finaliser: a cheap bijection without visible patterns.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// seededHash is 256 bits of seeded.
func seededHash(seed, kind, i uint64) []byte {
	hash := make([]byte, 32)
	seeded(hash, seed, kind, i)
	return hash
}

// seeded makes the 256 bits that stand for number i of a kind of things.
func seeded(dst []byte, seed uint64, kind uint64, i uint64) {
	x := mix(mix(seed)^mix(kind<<56|i)) ^ i
	for j := range uint64(4) {
		binary.BigEndian.PutUint64(dst[j*8:], mix(x+j*0x9e3779b97f4a7c15))
	}
}

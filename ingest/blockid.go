package ingest

import (
	"bytes"
	"cmp"
	"fmt"

	"tonscribe/schema/record"
)

const (
	masterchain      = int32(-1)
	masterchainShard = uint64(1) << 63
)

// blockID is a block id without its hashes: where a block stands in the chain.
type blockID struct {
	workchain int32
	shard     uint64
	seqno     uint32
}

func blockIDOf(id *record.BlockId) blockID { return blockID{id.Workchain, id.Shard, id.Seqno} }

func masterID(seqno uint32) blockID { return blockID{masterchain, masterchainShard, seqno} }

func (p blockID) String() string { return fmt.Sprintf("(%d,%016x,%d)", p.workchain, p.shard, p.seqno) }

func (p blockID) id(root, file []byte) *record.BlockId {
	return &record.BlockId{Workchain: p.workchain, Shard: p.shard, Seqno: p.seqno, RootHash: root, FileHash: file}
}

// blockKey is a complete block id as a map key.
type blockKey struct {
	blockID
	root, file [32]byte
}

func keyOf(id *record.BlockId) blockKey {
	k := blockKey{blockID: blockIDOf(id)}
	copy(k.root[:], id.RootHash)
	copy(k.file[:], id.FileHash)
	return k
}

func sameID(a, b *record.BlockId) bool {
	return blockIDOf(a) == blockIDOf(b) && bytes.Equal(a.RootHash, b.RootHash) && bytes.Equal(a.FileHash, b.FileHash)
}

// FormatID writes a block id as nodes do: (workchain,shard,seqno):ROOT:FILE.
func FormatID(id *record.BlockId) string {
	return fmt.Sprintf("%s:%X:%X", blockIDOf(id), id.RootHash, id.FileHash)
}

// compareIDs orders the blocks of a bundle: by (workchain, shard, seqno), the
// masterchain last.
func compareIDs(a, b *record.BlockId) int {
	if (a.Workchain == masterchain) != (b.Workchain == masterchain) {
		if a.Workchain == masterchain {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Workchain, b.Workchain), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Seqno, b.Seqno))
}

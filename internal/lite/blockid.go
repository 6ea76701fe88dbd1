package lite

import (
	"fmt"
	"math"

	"github.com/xssnick/tonutils-go/ton"
)

const (
	masterWorkchain = int32(-1)
	masterShard     = int64(math.MinInt64)
)

// Format writes a block id as nodes do: (workchain,shard,seqno):ROOT:FILE.
func Format(id *ton.BlockIDExt) string {
	return fmt.Sprintf("%s:%X:%X", shortID(id), id.RootHash, id.FileHash)
}

// shortID is a block id without its hashes.
func shortID(id *ton.BlockIDExt) string {
	return fmt.Sprintf("(%d,%016x,%d)", id.Workchain, uint64(id.Shard), id.SeqNo)
}

func isMaster(id *ton.BlockIDExt) bool {
	return id.Workchain == masterWorkchain && id.Shard == masterShard
}

// masterSeqno is the seqno of a masterchain block, 0 for another one.
func masterSeqno(id *ton.BlockIDExt) uint32 {
	if isMaster(id) {
		return id.SeqNo
	}
	return 0
}

// complete reports whether an id that a server sent has everything in it.
func complete(id *ton.BlockIDExt) bool {
	return id != nil && len(id.RootHash) == 32 && len(id.FileHash) == 32
}

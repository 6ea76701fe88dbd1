package sink

import "tonscribe/schema"

// Paths of blocks_index.
const (
	blockByID int8 = iota + 1
	blockByHash
	blockByUtime
	blockByLt
)

// blocksIndex finds blocks by id, by root hash and file hash, by time and by
// start lt.
var blocksIndex = table[*header]{
	name: "blocks_index",
	each: func(b *header, add func(*header)) {
		row := *b
		to := func(path int8, key uint64) {
			row.path, row.key = path, key
			add(&row)
		}
		to(blockByID, 0)
		to(blockByHash, schema.Prefix(b.Id.RootHash))
		to(blockByHash, schema.Prefix(b.Id.FileHash))
		to(blockByUtime, uint64(b.GenUtime))
		to(blockByLt, b.StartLt)
	},
	columns: []column[*header]{
		col("path", func(b *header) int8 { return b.path }),
		col("key", func(b *header) uint64 { return b.key }),
		col("workchain", func(b *header) int32 { return b.Id.Workchain }),
		col("shard", func(b *header) uint64 { return b.Id.Shard }),
		col("seqno", func(b *header) uint32 { return b.Id.Seqno }),
		col("mc_seqno", func(b *header) uint32 { return b.McSeqno }),
	},
}

package sink

import "tonscribe/schema"

// blocksByHash finds blocks by root hash and by file hash.
var blocksByHash = table[*header]{
	name: "blocks_by_hash",
	each: func(b *header, add func(*header)) {
		for _, hash := range [][]byte{b.Id.RootHash, b.Id.FileHash} {
			row := *b
			row.hash = hash
			add(&row)
		}
	},
	columns: []column[*header]{
		col("hash_prefix", func(b *header) uint64 { return schema.Prefix(b.hash) }),
		col("mc_seqno", func(b *header) uint32 { return b.McSeqno }),
		col("workchain", func(b *header) int32 { return b.Id.Workchain }),
		col("shard", func(b *header) uint64 { return b.Id.Shard }),
		col("seqno", func(b *header) uint32 { return b.Id.Seqno }),
	},
}

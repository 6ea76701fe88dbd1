package sink

// blocksByID finds blocks by workchain, shard and seqno.
var blocksByID = table[*header]{
	name: "blocks_by_id",
	columns: []column[*header]{
		col("workchain", func(b *header) int32 { return b.Id.Workchain }),
		col("shard", func(b *header) uint64 { return b.Id.Shard }),
		col("seqno", func(b *header) uint32 { return b.Id.Seqno }),
		col("mc_seqno", func(b *header) uint32 { return b.McSeqno }),
	},
}

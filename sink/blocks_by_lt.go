package sink

// blocksByLt finds blocks by start lt.
var blocksByLt = table[*header]{
	name: "blocks_by_lt",
	columns: []column[*header]{
		col("start_lt", func(b *header) uint64 { return b.StartLt }),
		col("workchain", func(b *header) int32 { return b.Id.Workchain }),
		col("shard", func(b *header) uint64 { return b.Id.Shard }),
		col("seqno", func(b *header) uint32 { return b.Id.Seqno }),
		col("mc_seqno", func(b *header) uint32 { return b.McSeqno }),
	},
}

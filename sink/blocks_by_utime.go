package sink

// blocksByUtime finds blocks by time.
var blocksByUtime = table[*header]{
	name: "blocks_by_utime",
	columns: []column[*header]{
		col("gen_utime", func(b *header) uint32 { return b.GenUtime }),
		col("workchain", func(b *header) int32 { return b.Id.Workchain }),
		col("shard", func(b *header) uint64 { return b.Id.Shard }),
		col("seqno", func(b *header) uint32 { return b.Id.Seqno }),
		col("mc_seqno", func(b *header) uint32 { return b.McSeqno }),
	},
}

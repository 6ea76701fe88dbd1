package sink

// blocks has every block once.
var blocks = table[*header]{
	name: "blocks",
	columns: []column[*header]{
		col("mc_seqno", func(b *header) uint32 { return b.McSeqno }),
		col("workchain", func(b *header) int32 { return b.Id.Workchain }),
		col("shard", func(b *header) uint64 { return b.Id.Shard }),
		col("seqno", func(b *header) uint32 { return b.Id.Seqno }),
		col("gen_utime", func(b *header) uint32 { return b.GenUtime }),
		col("start_lt", func(b *header) uint64 { return b.StartLt }),
		col("end_lt", func(b *header) uint64 { return b.EndLt }),
		col("root_hash", func(b *header) []byte { return b.Id.RootHash }),
		col("file_hash", func(b *header) []byte { return b.Id.FileHash }),
		col("tx_count", func(b *header) uint32 { return b.TxCount }),
		col("key_block", func(b *header) bool { return b.KeyBlock }),
		col("global_id", func(b *header) int32 { return b.GlobalId }),
		col("record", func(b *header) string { return b.raw }),
	},
}

package sink

// transactionsByLt finds transactions by lt.
var transactionsByLt = table[*transaction]{
	name: "transactions_by_lt",
	columns: []column[*transaction]{
		col("lt", func(t *transaction) uint64 { return t.Lt }),
		col("workchain", func(t *transaction) int32 { return t.workchain }),
		col("account_prefix", func(t *transaction) uint64 { return t.prefix }),
		col("mc_seqno", func(t *transaction) uint32 { return t.McSeqno }),
		col("shard", func(t *transaction) uint64 { return t.Block.Shard }),
		col("block_seqno", func(t *transaction) uint32 { return t.Block.Seqno }),
	},
}

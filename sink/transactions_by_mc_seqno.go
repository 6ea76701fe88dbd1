package sink

// transactionsByMCSeqno finds the transactions of a bundle, and the newest of the chain.
var transactionsByMCSeqno = table[*transaction]{
	name: "transactions_by_mc_seqno",
	columns: []column[*transaction]{
		col("mc_seqno", func(t *transaction) uint32 { return t.McSeqno }),
		col("lt", func(t *transaction) uint64 { return t.Lt }),
		col("workchain", func(t *transaction) int32 { return t.workchain }),
		col("account_prefix", func(t *transaction) uint64 { return t.prefix }),
		col("shard", func(t *transaction) uint64 { return t.Block.Shard }),
		col("block_seqno", func(t *transaction) uint32 { return t.Block.Seqno }),
	},
}

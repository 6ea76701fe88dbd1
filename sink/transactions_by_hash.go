package sink

import "tonscribe/schema"

// transactionsByHash finds transactions by hash.
var transactionsByHash = table[*transaction]{
	name: "transactions_by_hash",
	columns: []column[*transaction]{
		col("hash_prefix", func(t *transaction) uint64 { return schema.Prefix(t.Hash) }),
		col("workchain", func(t *transaction) int32 { return t.workchain }),
		col("account_prefix", func(t *transaction) uint64 { return t.prefix }),
		col("lt", func(t *transaction) uint64 { return t.Lt }),
		col("mc_seqno", func(t *transaction) uint32 { return t.McSeqno }),
	},
}

package sink

// transactionsByUtime finds transactions by time, and has what the figures of a
// day are made of.
var transactionsByUtime = table[*transaction]{
	name: "transactions_by_utime",
	columns: []column[*transaction]{
		col("now", func(t *transaction) uint32 { return t.Now }),
		col("lt", func(t *transaction) uint64 { return t.Lt }),
		col("workchain", func(t *transaction) int32 { return t.workchain }),
		col("account_prefix", func(t *transaction) uint64 { return t.prefix }),
		col("mc_seqno", func(t *transaction) uint32 { return t.McSeqno }),
		col("aborted", func(t *transaction) bool { return t.Aborted }),
		col("total_fees", func(t *transaction) uint64 { return t.TotalFees }),
		col("storage_fees", func(t *transaction) uint64 { return t.Storage.GetFeesCollected() }),
		col("gas_fees", func(t *transaction) uint64 { return t.Compute.GetGasFees() }),
		col("action_fees", func(t *transaction) uint64 { return t.Action.GetTotalActionFees() }),
		col("forward_fees", func(t *transaction) uint64 { return t.Action.GetTotalFwdFees() }),
	},
}

package sink

import "tonscribe/schema"

// Paths of transactions_index.
const (
	transactionByHash int8 = iota + 1
	transactionByMCSeqno
	transactionByLt
	transactionByUtime
)

// transactionsIndex finds transactions by hash, by bundle, by lt and by time, and
// has what the figures of a day are made of.
var transactionsIndex = table[*transaction]{
	name: "transactions_index",
	each: func(t *transaction, add func(*transaction)) {
		row := *t
		to := func(path int8, key uint64) {
			row.path, row.key = path, key
			add(&row)
		}
		to(transactionByHash, schema.Prefix(t.Hash))
		to(transactionByMCSeqno, uint64(t.McSeqno))
		to(transactionByLt, 0)
		to(transactionByUtime, uint64(t.Now))
	},
	columns: []column[*transaction]{
		col("path", func(t *transaction) int8 { return t.path }),
		col("key", func(t *transaction) uint64 { return t.key }),
		col("lt", func(t *transaction) uint64 { return t.Lt }),
		col("workchain", func(t *transaction) int32 { return t.workchain }),
		col("account_prefix", func(t *transaction) uint64 { return t.prefix }),
		col("mc_seqno", func(t *transaction) uint32 { return t.McSeqno }),
		col("shard", func(t *transaction) uint64 {
			if !t.inBlocks() {
				return 0
			}
			return t.Block.Shard
		}),
		col("block_seqno", func(t *transaction) uint32 {
			if !t.inBlocks() {
				return 0
			}
			return t.Block.Seqno
		}),
		col("aborted", func(t *transaction) bool { return t.path == transactionByUtime && t.Aborted }),
		fee("total_fees", func(t *transaction) uint64 { return t.TotalFees }),
		fee("storage_fees", func(t *transaction) uint64 { return t.Storage.GetFeesCollected() }),
		fee("gas_fees", func(t *transaction) uint64 { return t.Compute.GetGasFees() }),
		fee("action_fees", func(t *transaction) uint64 { return t.Action.GetTotalActionFees() }),
		fee("forward_fees", func(t *transaction) uint64 { return t.Action.GetTotalFwdFees() }),
	},
}

// inBlocks says that the row is one of those that tell the transaction's block.
func (t *transaction) inBlocks() bool {
	return t.path == transactionByMCSeqno || t.path == transactionByLt
}

// fee is a column of the rows by time, 0 in the others.
func fee(name string, value func(*transaction) uint64) column[*transaction] {
	return col(name, func(t *transaction) uint64 {
		if t.path != transactionByUtime {
			return 0
		}
		return value(t)
	})
}

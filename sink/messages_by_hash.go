package sink

import "tonscribe/schema"

// messagesByHash finds messages by hash and by normalized hash.
var messagesByHash = table[*end]{
	name: "messages_by_hash",
	each: func(e *end, add func(*end)) {
		add(e)
		if len(e.HashNorm) > 0 {
			row := *e
			row.hash, row.norm = e.HashNorm, true
			add(&row)
		}
	},
	columns: []column[*end]{
		col("hash_prefix", func(e *end) uint64 { return schema.Prefix(e.hash) }),
		col("norm", func(e *end) bool { return e.norm }),
		col("workchain", func(e *end) int32 { return e.transaction.workchain }),
		col("account_prefix", func(e *end) uint64 { return e.transaction.prefix }),
		col("lt", func(e *end) uint64 { return e.transaction.Lt }),
		col("direction", func(e *end) uint8 { return e.direction }),
		col("kind", func(e *end) uint8 { return uint8(e.Kind) }),
		col("mc_seqno", func(e *end) uint32 { return e.transaction.McSeqno }),
	},
}

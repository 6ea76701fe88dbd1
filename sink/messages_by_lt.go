package sink

import "tonscribe/schema"

// messagesByLt finds messages by the lt of their creation.
var messagesByLt = table[*end]{
	name: "messages_by_lt",
	columns: []column[*end]{
		col("created_lt", func(e *end) uint64 { return e.CreatedLt }),
		col("hash_prefix", func(e *end) uint32 { return schema.ShortPrefix(e.hash) }),
		col("created_at", func(e *end) uint32 { return e.CreatedAt }),
		col("workchain", func(e *end) int32 { return e.transaction.workchain }),
		col("account_prefix", func(e *end) uint64 { return e.transaction.prefix }),
		col("lt", func(e *end) uint64 { return e.transaction.Lt }),
		col("direction", func(e *end) uint8 { return e.direction }),
		col("kind", func(e *end) uint8 { return uint8(e.Kind) }),
		col("mc_seqno", func(e *end) uint32 { return e.transaction.McSeqno }),
	},
}

package sink

import "tonscribe/schema"

// messagesBySource finds the messages that an account sent.
var messagesBySource = table[*end]{
	name: "messages_by_source",
	each: func(e *end, add func(*end)) {
		if e.sourceWorkchain != noWorkchain {
			add(e)
		}
	},
	columns: []column[*end]{
		col("source_workchain", func(e *end) int32 { return e.sourceWorkchain }),
		col("source_prefix", func(e *end) uint64 { return e.sourcePrefix }),
		col("created_lt", func(e *end) uint64 { return e.CreatedLt }),
		col("hash_prefix", func(e *end) uint32 { return schema.ShortPrefix(e.hash) }),
		col("created_at", func(e *end) uint32 { return e.CreatedAt }),
		col("lt", func(e *end) uint64 { return e.transaction.Lt }),
		col("direction", func(e *end) uint8 { return e.direction }),
		col("kind", func(e *end) uint8 { return uint8(e.Kind) }),
		col("mc_seqno", func(e *end) uint32 { return e.transaction.McSeqno }),
		col("destination_workchain", func(e *end) int32 { return e.destinationWorkchain }),
		col("destination_prefix", func(e *end) uint64 { return e.destinationPrefix }),
		col("opcode", func(e *end) int64 { return opcode(e.Message) }),
		col("far_hash", (*end).farHash),
	},
}

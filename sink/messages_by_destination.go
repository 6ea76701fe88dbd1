package sink

import "tonscribe/schema"

// messagesByDestination finds the messages to an account, and those to none.
var messagesByDestination = table[*end]{
	name: "messages_by_destination",
	columns: []column[*end]{
		col("destination_workchain", func(e *end) int32 { return e.destinationWorkchain }),
		col("destination_prefix", func(e *end) uint64 { return e.destinationPrefix }),
		col("created_lt", func(e *end) uint64 { return e.CreatedLt }),
		col("hash_prefix", func(e *end) uint32 { return schema.ShortPrefix(e.hash) }),
		col("created_at", func(e *end) uint32 { return e.CreatedAt }),
		col("lt", func(e *end) uint64 { return e.transaction.Lt }),
		col("direction", func(e *end) uint8 { return e.direction }),
		col("kind", func(e *end) uint8 { return uint8(e.Kind) }),
		col("mc_seqno", func(e *end) uint32 { return e.transaction.McSeqno }),
		col("source_workchain", func(e *end) int32 { return e.sourceWorkchain }),
		col("source_prefix", func(e *end) uint64 { return e.sourcePrefix }),
		col("opcode", func(e *end) int64 { return opcode(e.Message) }),
	},
}

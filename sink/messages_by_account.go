package sink

import "tonscribe/schema"

// Sides of messages_by_account.
const (
	destinationSide int8 = 0
	sourceSide      int8 = 1
)

// messagesByAccount finds the messages that an account sent, those to it, and
// those to none.
var messagesByAccount = table[*end]{
	name: "messages_by_account",
	each: func(e *end, add func(*end)) {
		row := *e
		source, destination := placeOf(e.Source), placeOf(e.Destination)
		if source.workchain != noWorkchain {
			row.side, row.near, row.far = sourceSide, source, destination
			add(&row)
		}
		row.side, row.near, row.far = destinationSide, destination, source
		add(&row)
	},
	columns: []column[*end]{
		col("side", func(e *end) int8 { return e.side }),
		col("near_workchain", func(e *end) int32 { return e.near.workchain }),
		col("near_prefix", func(e *end) uint64 { return e.near.prefix }),
		col("created_lt", func(e *end) uint64 { return e.CreatedLt }),
		col("hash_prefix", func(e *end) uint32 { return schema.ShortPrefix(e.Hash) }),
		col("direction", func(e *end) uint8 { return e.direction }),
		col("lt", func(e *end) uint64 { return e.transaction.Lt }),
		col("far_workchain", func(e *end) int32 { return e.far.workchain }),
		col("far_prefix", func(e *end) uint64 { return e.far.prefix }),
		col("created_at", func(e *end) uint32 { return e.CreatedAt }),
		col("kind", func(e *end) uint8 { return uint8(e.Kind) }),
		col("mc_seqno", func(e *end) uint32 { return e.transaction.McSeqno }),
		col("opcode", func(e *end) int64 { return opcode(e.Message) }),
		col("far_hash", (*end).farHash),
	},
}

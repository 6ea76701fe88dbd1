package sink

import "tonscribe/schema"

// Paths of messages_index.
const (
	messageByHash int8 = iota + 1
	messageByBody
	messageByOpcode
	messageByLt
	messageByUtime
)

// messagesIndex finds messages by hash and normalized hash, by the hash of the
// body, by opcode, and by the lt and the time of their creation.
var messagesIndex = table[*end]{
	name: "messages_index",
	each: func(e *end, add func(*end)) {
		row := *e
		to := func(path int8, key uint64) {
			row.path, row.key = path, key
			add(&row)
		}
		to(messageByBody, schema.Prefix(e.BodyHash))
		if e.Opcode != nil {
			to(messageByOpcode, uint64(*e.Opcode))
		}
		to(messageByLt, 0)
		to(messageByUtime, uint64(e.CreatedAt)<<32|uint64(schema.ShortPrefix(e.Hash)))
		to(messageByHash, schema.Prefix(e.Hash))
		if len(e.HashNorm) > 0 {
			row.norm = true
			to(messageByHash, schema.Prefix(e.HashNorm))
		}
	},
	columns: []column[*end]{
		col("path", func(e *end) int8 { return e.path }),
		col("key", func(e *end) uint64 { return e.key }),
		col("created_lt", func(e *end) uint64 {
			if e.path == messageByHash {
				return 0
			}
			return e.CreatedLt
		}),
		col("hash_prefix", func(e *end) uint32 {
			if e.path == messageByHash || e.path == messageByUtime {
				return 0
			}
			return schema.ShortPrefix(e.Hash)
		}),
		col("created_at", func(e *end) uint32 {
			if e.path == messageByHash || e.path == messageByUtime {
				return 0
			}
			return e.CreatedAt
		}),
		col("workchain", func(e *end) int32 { return e.transaction.workchain }),
		col("account_prefix", func(e *end) uint64 { return e.transaction.prefix }),
		col("lt", func(e *end) uint64 { return e.transaction.Lt }),
		col("direction", func(e *end) uint8 { return e.direction }),
		col("norm", func(e *end) bool { return e.norm }),
		col("kind", func(e *end) uint8 { return uint8(e.Kind) }),
		col("mc_seqno", func(e *end) uint32 { return e.transaction.McSeqno }),
	},
}

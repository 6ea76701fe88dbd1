package table

import (
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Directions of an end: what the transaction that holds it did with the message.
const (
	consumed uint8 = 0
	produced uint8 = 1
)

// MessageEnd is one end of a message: the message and the transaction that
// consumed or produced it.
type MessageEnd struct {
	*record.Message
	Transaction *Transaction
	Direction   uint8
	// path, key and norm are those of a row of MessagesIndex.
	path int8
	key  uint64
	norm bool
	// side, near and far are those of a row of MessagesByAccount.
	side      int8
	near, far accountKey
}

// Ends hands out the ends of messages that the transaction holds. An end is good
// until add returns.
func (r *Transaction) Ends(add func(*MessageEnd)) {
	e := MessageEnd{Transaction: r}
	if r.InMsg != nil {
		e.Message, e.Direction = r.InMsg, consumed
		add(&e)
	}
	for _, m := range r.OutMsgs {
		e.Message, e.Direction = m, produced
		add(&e)
	}
}

// opcode is -1 without a message, and for a body that is too short to have one.
func opcode(m *record.Message) int64 {
	if m == nil || m.Opcode == nil {
		return -1
	}
	return int64(*m.Opcode)
}

// Paths of MessagesIndex.
const (
	messageByHash int8 = iota + 1
	messageByBody
	messageByOpcode
	messageByLt
	messageByUtime
)

// MessagesIndex finds messages by hash and normalized hash, by the hash of the
// body, by opcode, and by the lt and the time of their creation.
var MessagesIndex = declare(Table{Name: "messages_index", Doc: "an end of a message by one of the ways to look for it", Standalone: true,
	Key: []string{"path", "key", "created_lt", "hash_prefix", "direction", "lt", "workchain", "account_prefix", "norm"}},
	func(e *MessageEnd, add func(*MessageEnd)) {
		to := func(path int8, key uint64) {
			e.path, e.key = path, key
			add(e)
		}
		e.norm = false
		to(messageByBody, schema.Prefix(e.BodyHash))
		if e.Opcode != nil {
			to(messageByOpcode, uint64(*e.Opcode))
		}
		to(messageByLt, 0)
		to(messageByUtime, uint64(e.CreatedAt)<<32|uint64(schema.ShortPrefix(e.Hash)))
		to(messageByHash, schema.Prefix(e.Hash))
		if len(e.HashNorm) > 0 {
			e.norm = true
			to(messageByHash, schema.Prefix(e.HashNorm))
		}
	}, []column[*MessageEnd]{
		col("path", Enum8(messageByHash, "hash", "body", "opcode", "lt", "utime"), "way to look for it", func(e *MessageEnd) int8 { return e.path }),
		col("key", Prefix, "hash: first 8 bytes of the message's hash; body: of its body's hash; opcode: the opcode; lt: 0; utime: created_at in the upper half, hash_prefix in the lower",
			func(e *MessageEnd) uint64 { return e.key }),
		col("created_lt", UInt64, "logical time of its creation; 0 in hash and for external-in messages", func(e *MessageEnd) uint64 {
			if e.path == messageByHash {
				return 0
			}
			return e.CreatedLt
		}),
		col("hash_prefix", ShortPrefix, "first 4 bytes of the message's hash; 0 in hash and utime", func(e *MessageEnd) uint32 {
			if e.path == messageByHash || e.path == messageByUtime {
				return 0
			}
			return schema.ShortPrefix(e.Hash)
		}),
		col("created_at", UInt32, "time of its creation; 0 in hash and utime, and for external-in messages", func(e *MessageEnd) uint32 {
			if e.path == messageByHash || e.path == messageByUtime {
				return 0
			}
			return e.CreatedAt
		}),
		col("workchain", Int32, "workchain of the account whose transaction holds the end", func(e *MessageEnd) int32 { return e.Transaction.Workchain }),
		col("account_prefix", Prefix, "first 8 bytes of that account's id", func(e *MessageEnd) uint64 { return e.Transaction.Prefix }),
		col("lt", UInt64, "logical time of that transaction", func(e *MessageEnd) uint64 { return e.Transaction.Lt }),
		col("direction", UInt8, "what the transaction did with the message: 0 consumed, 1 produced", func(e *MessageEnd) uint8 { return e.Direction }),
		col("norm", Bool, "whether key is of the normalized hash of an external-in message (TEP-467)", func(e *MessageEnd) bool { return e.norm }),
		col("kind", UInt8, "0 internal, 1 external-in, 2 external-out", func(e *MessageEnd) uint8 { return uint8(e.Kind) }),
		col("mc_seqno", UInt32, "masterchain block that commits the transaction", func(e *MessageEnd) uint32 { return e.Transaction.McSeqno }),
	})

// Sides of MessagesByAccount.
const (
	destinationSide int8 = 0
	sourceSide      int8 = 1
)

// MessagesByAccount finds the messages that an account sent, those to it, and
// those to none.
var MessagesByAccount = declare(Table{Name: "messages_by_account", Doc: "an end of a message by an account of it, so that most messages have two rows of each side", Standalone: true,
	Key: []string{"side", "near_workchain", "near_prefix", "created_lt", "hash_prefix", "direction", "lt", "far_workchain", "far_prefix"}},
	func(e *MessageEnd, add func(*MessageEnd)) {
		source, destination := accountKeyOf(e.Source), accountKeyOf(e.Destination)
		if source.workchain != noWorkchain {
			e.side, e.near, e.far = sourceSide, source, destination
			add(e)
		}
		e.side, e.near, e.far = destinationSide, destination, source
		add(e)
	}, []column[*MessageEnd]{
		col("side", Enum8(destinationSide, "destination", "source"), "what the account is to the message", func(e *MessageEnd) int8 { return e.side }),
		col("near_workchain", Int32, "workchain of the account; -2147483648 in destination for external-out messages", func(e *MessageEnd) int32 { return e.near.workchain }),
		col("near_prefix", Prefix, "first 8 bytes of its id", func(e *MessageEnd) uint64 { return e.near.prefix }),
		col("created_lt", UInt64, "logical time of its creation; 0 for external-in messages", func(e *MessageEnd) uint64 { return e.CreatedLt }),
		col("hash_prefix", ShortPrefix, "first 4 bytes of the message's hash", func(e *MessageEnd) uint32 { return schema.ShortPrefix(e.Hash) }),
		col("direction", UInt8, "what the transaction that holds the end did with the message: 0 consumed, 1 produced", func(e *MessageEnd) uint8 { return e.Direction }),
		col("lt", UInt64, "logical time of that transaction", func(e *MessageEnd) uint64 { return e.Transaction.Lt }),
		col("far_workchain", Int32, "workchain of the other side; -2147483648 for none", func(e *MessageEnd) int32 { return e.far.workchain }),
		col("far_prefix", Prefix, "first 8 bytes of the other side's id", func(e *MessageEnd) uint64 { return e.far.prefix }),
		alias("workchain", Int32, "workchain of the account whose transaction holds the end", func(e *MessageEnd) int32 { return e.Transaction.Workchain }),
		alias("account_prefix", Prefix, "first 8 bytes of that account's id", func(e *MessageEnd) uint64 { return e.Transaction.Prefix }),
		col("created_at", UInt32, "time of its creation; 0 for external-in messages", func(e *MessageEnd) uint32 { return e.CreatedAt }),
		col("kind", UInt8, "0 internal, 1 external-in, 2 external-out", func(e *MessageEnd) uint8 { return uint8(e.Kind) }),
		col("mc_seqno", UInt32, "masterchain block that commits the transaction", func(e *MessageEnd) uint32 { return e.Transaction.McSeqno }),
		col("opcode", Int64, "first 32 bits of the body; -1 without them", func(e *MessageEnd) int64 { return opcode(e.Message) }),
		col("far_hash", Hash, "hash of the transaction where the other side made it; zeros elsewhere, and for messages to none", (*MessageEnd).farHash),
	})

// farHash is the hash of the transaction when the account at the other end of the
// message made it.
func (e *MessageEnd) farHash() []byte {
	if e.side == int8(e.Direction) || e.near.workchain == noWorkchain {
		return noHash
	}
	return e.Transaction.Hash
}

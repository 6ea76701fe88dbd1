// Package schema is the contract between the stages: the topics with their
// records (schema/record) and the ClickHouse tables (schema/migrations). It
// must never import a stage.
package schema

import (
	"encoding/binary"
	"time"

	"tonscribe/ton/address"
)

// Topic is a Kafka topic of the pipeline. Every topic has the same number of
// partitions, a power of two, and partition p of every topic holds the accounts
// whose account id starts with the bits of p.
type Topic struct {
	Name string
	// MaxMessageBytes is the topic's max.message.bytes.
	MaxMessageBytes int
	// Partitions is another number of partitions than that of other topics, 0 for none.
	Partitions int
	// Retention is how long records stay, and RetentionBytes how many bytes of them in
	// a partition; 0 leaves both to the broker.
	Retention      time.Duration
	RetentionBytes int64
}

// The topics, in the order of the data's way.
var (
	// Blocks carries raw blocks (RawBlock), bundle by bundle in masterchain order.
	Blocks = Topic{Name: "blocks", MaxMessageBytes: 16 << 20}
	// Headers carries decoded blocks without their transactions (BlockBatch).
	Headers = Topic{Name: "headers", MaxMessageBytes: 16 << 20}
	// Transactions carries decoded transactions with their messages (TransactionBatch).
	Transactions = Topic{Name: "transactions", MaxMessageBytes: 16 << 20}
	// Accounts carries the states of the accounts that a bundle changes, and the
	// codes that they have for the first time (AccountBatch). Every bundle has at
	// least one such record in every partition.
	Accounts = Topic{Name: "accounts", MaxMessageBytes: 16 << 20}

	// Contracts carries what contracts were found to be, transfers and burns of
	// tokens (ContractBatch).
	Contracts = Topic{Name: "contracts", MaxMessageBytes: 16 << 20}

	// Traces carries what traces became, and the actions of those that are whole
	// (TraceBatch). A trace lies in the partition of its id.
	Traces = Topic{Name: "traces", MaxMessageBytes: 16 << 20}

	// Transfers carries payments that merchants registered, as they end
	// (TransferBatch). A merchant's lie in the partition of the merchant's id.
	Transfers = Topic{Name: "transfers", MaxMessageBytes: 16 << 20}

	// Pending carries what messages that were sent are foreseen to do (PendingTrace).
	// It is none of Topics: its records belong to no bundle, and whoever comes too late
	// for them does without.
	Pending = Topic{Name: "pending", MaxMessageBytes: 9 << 20, Partitions: 1, Retention: 15 * time.Minute, RetentionBytes: 256 << 20}

	Topics = []Topic{Blocks, Headers, Transactions, Accounts, Contracts, Traces, Transfers}
	// TableTopics are those that a sink reads: their seals count for the watermark.
	TableTopics = []Topic{Headers, Transactions, Accounts, Contracts, Traces}
)

// AddressSize is the length of an address in a record.
const AddressSize = address.Size

// Workchain is the workchain of an address of a record.
func Workchain(address []byte) int32 { return int32(binary.BigEndian.Uint32(address)) }

// AccountID is the 256-bit account id of an address of a record.
func AccountID(address []byte) []byte { return address[4:AddressSize] }

// Prefix is the first 64 bits of a hash or an account id, the form in which
// tables look them up.
func Prefix(b []byte) uint64 { return binary.BigEndian.Uint64(b) }

// Rest makes one number of the three behind the prefix of an account id, by exclusive or:
// it tells accounts apart whose ids begin alike.
func Rest(id []byte) uint64 { return Prefix(id[8:]) ^ Prefix(id[16:]) ^ Prefix(id[24:]) }

// ShortPrefix is the first 32 bits of a hash: enough for tables to tell messages
// apart that were created at the same time.
func ShortPrefix(hash []byte) uint32 { return binary.BigEndian.Uint32(hash) }

// PartitionOf says which of n partitions (a power of two) holds the account id.
func PartitionOf(accountID []byte, n int) int {
	return int(Prefix(accountID) >> 32 * uint64(n) >> 32)
}

// ShardsMeet reports whether two shards, in the form of block ids, have accounts in
// common.
func ShardsMeet(a, b uint64) bool {
	tag := max(a&-a, b&-b)
	mask := ^(tag<<1 - 1)
	return a != 0 && b != 0 && a&mask == b&mask
}

// PartitionsOf says which of n partitions hold accounts of a shard: the range
// [first, last]. The shard is in the form of block ids, with the tag bit.
func PartitionsOf(shard uint64, n int) (first, last int) {
	tag := shard & -shard
	low, high := shard-tag, shard+(tag-1)
	return int(low >> 32 * uint64(n) >> 32), int(high >> 32 * uint64(n) >> 32)
}

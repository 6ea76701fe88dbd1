package table

import (
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

// Transaction is a transaction as the tables see it.
type Transaction struct {
	*record.Transaction
	Raw       string // in the form of schema/stored
	Workchain int32
	Prefix    uint64 // of the account
	// path and key are those of a row of TransactionsIndex.
	path int8
	key  uint64
}

// NewTransaction returns the row of a transaction that was read from raw. Account,
// hash, block and its messages' hashes must be there.
func NewTransaction(t *record.Transaction, raw []byte) (*Transaction, error) {
	row := &Transaction{}
	if err := row.Set(t); err != nil {
		return nil, err
	}
	packed, err := stored.Pack(make([]byte, 0, len(raw)), raw, t)
	if err != nil {
		return nil, err
	}
	row.Raw = text(packed)
	return row, nil
}

// Set makes a row that of another transaction, without its Raw.
func (r *Transaction) Set(t *record.Transaction) error {
	if len(t.Account) != schema.AddressSize || len(t.Hash) != 32 || t.Block == nil {
		return fmt.Errorf("transaction %x of lt %d: account, hash or block is missing", t.Hash, t.Lt)
	}
	if m := t.InMsg; m != nil && !complete(m) {
		return fmt.Errorf("transaction %x: a message without hash or body hash", t.Hash)
	}
	for _, m := range t.OutMsgs {
		if !complete(m) {
			return fmt.Errorf("transaction %x: a message without hash or body hash", t.Hash)
		}
	}
	*r = Transaction{Transaction: t, Workchain: schema.Workchain(t.Account), Prefix: schema.Prefix(schema.AccountID(t.Account))}
	return nil
}

func complete(m *record.Message) bool {
	return len(m.Hash) == 32 && len(m.BodyHash) == 32 && (len(m.HashNorm) == 0 || len(m.HashNorm) == 32)
}

// status is the type of an account's statuses.
var status = Enum8(0, "uninit", "frozen", "active", "nonexist")

// Transactions has every transaction once.
var Transactions = declare(Table{Name: "transactions", Doc: "a transaction", Key: []string{"workchain", "account_prefix", "lt", "account"}}, nil, []column[*Transaction]{
	col("workchain", Int32, "workchain of the account", func(t *Transaction) int32 { return t.Workchain }),
	col("account_prefix", Prefix, "first 8 bytes of the account id", func(t *Transaction) uint64 { return t.Prefix }),
	col("lt", UInt64, "logical time", func(t *Transaction) uint64 { return t.Lt }),
	col("account", Hash, "account id", func(t *Transaction) []byte { return schema.AccountID(t.Account) }),
	alias("hash", Hash, "hash of the transaction", func(t *Transaction) []byte { return t.Hash }),
	col("now", UInt32, "time of its block", func(t *Transaction) uint32 { return t.Now }),
	col("mc_seqno", UInt32, "masterchain block that commits it", func(t *Transaction) uint32 { return t.McSeqno }),
	col("shard", Prefix, "shard of its block", func(t *Transaction) uint64 { return t.Block.Shard }),
	col("block_seqno", UInt32, "seqno of its block", func(t *Transaction) uint32 { return t.Block.Seqno }),
	col("type", Enum8(0, "ord", "storage", "tick_tock", "split_prepare", "split_install", "merge_prepare", "merge_install"), "type of the transaction",
		func(t *Transaction) int8 { return int8(t.Type) }),
	col("orig_status", status, "status of the account before it", func(t *Transaction) int8 { return int8(t.OrigStatus) }),
	col("end_status", status, "status of the account after it", func(t *Transaction) int8 { return int8(t.EndStatus) }),
	col("aborted", Bool, "whether it was aborted", func(t *Transaction) bool { return t.Aborted }),
	col("compute_skipped", Bool, "whether the compute phase was skipped",
		func(t *Transaction) bool { return t.Compute.GetSkipReason() != record.ComputePhase_NOT_SKIPPED }),
	col("exit_code", Int32, "exit code of the compute phase; 0 and 1 are success, and it is 0 when the phase was skipped",
		func(t *Transaction) int32 { return t.Compute.GetExitCode() }),
	col("gas_used", UInt64, "gas units that the compute phase used", func(t *Transaction) uint64 { return t.Compute.GetGasUsed() }),
	col("result_code", Int32, "result code of the action phase; 0 is success, or there is no such phase", func(t *Transaction) int32 { return t.Action.GetResultCode() }),
	col("total_fees", UInt64, "all fees, in nanotons", func(t *Transaction) uint64 { return t.TotalFees }),
	col("storage_fees", UInt64, "storage fees collected, in nanotons", func(t *Transaction) uint64 { return t.Storage.GetFeesCollected() }),
	col("in_msg_kind", Enum8(-1, "none", "internal", "external_in"), "kind of the inbound message", kindOfInMsg),
	col("in_msg_value", UInt64, "value of the inbound message, in nanotons", func(t *Transaction) uint64 { return t.InMsg.GetValue() }),
	col("in_msg_opcode", Int64, "first 32 bits of the inbound message's body; -1 without them", func(t *Transaction) int64 { return opcode(t.InMsg) }),
	col("out_msg_count", UInt16, "number of outbound messages", func(t *Transaction) uint16 { return uint16(len(t.OutMsgs)) }),
	recordCol("the protobuf Transaction with its messages, in the form of schema/stored", func(t *Transaction) string { return t.Raw }),
})

func kindOfInMsg(t *Transaction) int8 {
	if t.InMsg == nil {
		return -1
	}
	return int8(t.InMsg.Kind)
}

// Paths of TransactionsIndex.
const (
	transactionByHash int8 = iota + 1
	transactionByMCSeqno
	transactionByLt
	transactionByUtime
)

// TransactionsIndex finds transactions by hash, by bundle, by lt and by time, and
// has what the figures of a day are made of.
var TransactionsIndex = declare(Table{Name: "transactions_index", Doc: "a transaction by one of the ways to look for it", Standalone: true,
	Key: []string{"path", "key", "lt", "workchain", "account_prefix"}},
	func(t *Transaction, add func(*Transaction)) {
		to := func(path int8, key uint64) {
			t.path, t.key = path, key
			add(t)
		}
		to(transactionByHash, schema.Prefix(t.Hash))
		to(transactionByMCSeqno, uint64(t.McSeqno))
		to(transactionByLt, 0)
		to(transactionByUtime, uint64(t.Now))
	}, []column[*Transaction]{
		col("path", Enum8(transactionByHash, "hash", "mc_seqno", "lt", "utime"), "way to look for it", func(t *Transaction) int8 { return t.path }),
		col("key", Prefix, "hash: first 8 bytes of it; mc_seqno: the same; lt: 0; utime: now", func(t *Transaction) uint64 { return t.key }),
		col("lt", UInt64, "logical time", func(t *Transaction) uint64 { return t.Lt }),
		col("workchain", Int32, "workchain of the account", func(t *Transaction) int32 { return t.Workchain }),
		col("account_prefix", Prefix, "first 8 bytes of the account id", func(t *Transaction) uint64 { return t.Prefix }),
		col("mc_seqno", UInt32, "masterchain block that commits it", func(t *Transaction) uint32 { return t.McSeqno }),
		col("shard", Prefix, "shard of its block; 0 but in mc_seqno and lt", func(t *Transaction) uint64 {
			if !t.inBlocks() {
				return 0
			}
			return t.Block.Shard
		}),
		col("block_seqno", UInt32, "seqno of its block; 0 but in mc_seqno and lt", func(t *Transaction) uint32 {
			if !t.inBlocks() {
				return 0
			}
			return t.Block.Seqno
		}),
		col("aborted", Bool, "whether it was aborted; false but in utime", func(t *Transaction) bool { return t.path == transactionByUtime && t.Aborted }),
		fee("total_fees", "all fees", func(t *Transaction) uint64 { return t.TotalFees }),
		fee("storage_fees", "storage fees collected", func(t *Transaction) uint64 { return t.Storage.GetFeesCollected() }),
		fee("gas_fees", "fees for gas", func(t *Transaction) uint64 { return t.Compute.GetGasFees() }),
		fee("action_fees", "part of forward_fees that the transaction keeps", func(t *Transaction) uint64 { return t.Action.GetTotalActionFees() }),
		fee("forward_fees", "all that its outbound messages pay, a bounced one left out", func(t *Transaction) uint64 { return t.Action.GetTotalFwdFees() }),
	})

// inBlocks reports whether the row is one of those that name the transaction's
// block.
func (r *Transaction) inBlocks() bool {
	return r.path == transactionByMCSeqno || r.path == transactionByLt
}

// fee is a column of the rows by time, 0 in the others.
func fee(name, doc string, value func(*Transaction) uint64) column[*Transaction] {
	return col(name, UInt64, doc+", in nanotons; 0 but in utime", func(t *Transaction) uint64 {
		if t.path != transactionByUtime {
			return 0
		}
		return value(t)
	})
}

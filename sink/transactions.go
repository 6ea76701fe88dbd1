package sink

import (
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// transactions has every transaction once.
var transactions = table[*transaction]{
	name: "transactions",
	columns: []column[*transaction]{
		col("workchain", func(t *transaction) int32 { return t.workchain }),
		col("account_prefix", func(t *transaction) uint64 { return t.prefix }),
		col("lt", func(t *transaction) uint64 { return t.Lt }),
		col("account", func(t *transaction) []byte { return schema.AccountID(t.Account) }),
		col("now", func(t *transaction) uint32 { return t.Now }),
		col("mc_seqno", func(t *transaction) uint32 { return t.McSeqno }),
		col("shard", func(t *transaction) uint64 { return t.Block.Shard }),
		col("block_seqno", func(t *transaction) uint32 { return t.Block.Seqno }),
		col("type", func(t *transaction) int8 { return int8(t.Type) }),
		col("orig_status", func(t *transaction) int8 { return int8(t.OrigStatus) }),
		col("end_status", func(t *transaction) int8 { return int8(t.EndStatus) }),
		col("aborted", func(t *transaction) bool { return t.Aborted }),
		col("compute_skipped", func(t *transaction) bool { return t.Compute.GetSkipReason() != record.ComputePhase_NOT_SKIPPED }),
		col("exit_code", func(t *transaction) int32 { return t.Compute.GetExitCode() }),
		col("gas_used", func(t *transaction) uint64 { return t.Compute.GetGasUsed() }),
		col("result_code", func(t *transaction) int32 { return t.Action.GetResultCode() }),
		col("total_fees", func(t *transaction) uint64 { return t.TotalFees }),
		col("storage_fees", func(t *transaction) uint64 { return t.Storage.GetFeesCollected() }),
		col("in_msg_kind", func(t *transaction) int8 { return kindOfInMsg(t) }),
		col("in_msg_value", func(t *transaction) uint64 { return t.InMsg.GetValue() }),
		col("in_msg_opcode", func(t *transaction) int64 { return opcode(t.InMsg) }),
		col("out_msg_count", func(t *transaction) uint16 { return uint16(len(t.OutMsgs)) }),
		col("record", func(t *transaction) string { return t.raw }),
	},
}

// kindOfInMsg is -1 without an inbound message.
func kindOfInMsg(t *transaction) int8 {
	if t.InMsg == nil {
		return -1
	}
	return int8(t.InMsg.Kind)
}

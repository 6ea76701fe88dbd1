package render

import (
	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/schema/record"
)

var (
	statuses      = api.Words{"uninit", "frozen", "active", "nonexist"}
	statusChanges = api.Words{"unchanged", "frozen", "deleted"}
	types         = api.Words{"ord", "storage", "tick_tock", "split_prepare", "split_install", "merge_prepare", "merge_install"}
	skips         = api.Words{"", "no_state", "bad_state", "no_gas", "suspended"}
	bounces       = api.Words{"negfunds", "nofunds", "ok"}
	finalities    = api.Words{"pending", "confirmed", "finalized"}
)

// Status is the word for an account's status.
func Status(status record.AccountStatus) string { return statuses.Of(int32(status)) }

// stateRow is the state before or after a transaction; of nil only the hash is known.
type stateRow struct {
	hash []byte
	*record.AccountState
}

func (s stateRow) known() bool           { return s.AccountState != nil }
func (s stateRow) knowsCurrencies() bool { return s.AccountState != nil && !s.ExtraUnknown }

// AccountState describes what WriteStateAfter writes.
var AccountState openapi.Described = accountState

var accountState = api.New("AccountState",
	api.Hash("hash", func(s stateRow) []byte { return s.hash }),
	api.Decimal("balance", stateRow.GetBalance).NullUnless(stateRow.known),
	currencies("extra_currencies", stateRow.GetExtraCurrencies).NullUnless(stateRow.knowsCurrencies),
	api.Enum("account_status", statuses, stateRow.GetStatus).NullUnless(stateRow.known),
	api.Hash("frozen_hash", stateRow.GetFrozenHash).Null(),
	api.Hash("data_hash", stateRow.GetDataHash).Null(),
	api.Hash("code_hash", stateRow.GetCodeHash).Null(),
	api.BoC[stateRow]("data_boc", nil).Optional(),
	api.BoC[stateRow]("code_boc", nil).Optional(),
)

func stateAfter(tx TransactionRow) stateRow { return stateRow{tx.StateHashAfter, tx.StateAfter} }

// WriteStateAfter writes the state that a transaction leaves its account in.
func WriteStateAfter(w *api.Writer, tx *record.Transaction) {
	accountState.Write(w, stateAfter(TransactionOf(tx)))
}

// TransactionRow is a transaction of an answer.
type TransactionRow struct {
	*record.Transaction
	Trace *record.Trace // that it is a part of, nil where that is not known
	// Foreseen reports whether no block has it: it is what emulation makes of a message.
	Foreseen bool
}

func (tx TransactionRow) foreseen() bool { return tx.Foreseen }

// Finality is the word for what blocks have, or for what is foreseen.
func Finality(foreseen bool) string {
	if foreseen {
		return "pending"
	}
	return "finalized"
}

// TransactionOf is the row of a transaction of whose trace nothing is known.
func TransactionOf(tx *record.Transaction) TransactionRow { return TransactionRow{Transaction: tx} }

// Transaction is a transaction.
var Transaction = api.New("TransactionShape",
	api.Address("account", TransactionRow.GetAccount),
	api.Hash("hash", TransactionRow.GetHash),
	api.Decimal("lt", TransactionRow.GetLt),
	api.UnixTime("now", TransactionRow.GetNow),
	api.Uint32("mc_block_seqno", TransactionRow.GetMcSeqno).Doc("the masterchain block that commits it"),
	api.Hash("trace_id", func(tx TransactionRow) []byte { return tx.Trace.GetId() }).Optional(),
	api.Hash("trace_external_hash", func(tx TransactionRow) []byte { return tx.Trace.GetExternalHash() }).Optional(),
	api.Hash("prev_trans_hash", TransactionRow.GetPrevTransHash),
	api.Decimal("prev_trans_lt", TransactionRow.GetPrevTransLt),
	api.Enum("orig_status", statuses, TransactionRow.GetOrigStatus),
	api.Enum("end_status", statuses, TransactionRow.GetEndStatus),
	api.Decimal("total_fees", TransactionRow.GetTotalFees),
	currencies("total_fees_extra_currencies", TransactionRow.GetTotalFeesExtra),
	api.Object("description", description, api.Same[TransactionRow], nil),
	api.Object("block_ref", blockID, func(tx TransactionRow) blockName {
		return blockName{tx.Block.GetWorkchain(), tx.Block.GetShard(), tx.Block.GetSeqno()}
	}, nil),
	api.Object("in_msg", Message, func(tx TransactionRow) MessageRow { return MessageRow{Message: tx.InMsg} },
		func(tx TransactionRow) bool { return tx.InMsg != nil }).Null(),
	api.List("out_msgs", Message, TransactionRow.GetOutMsgs, func(m *record.Message) MessageRow { return MessageRow{Message: m} }),
	api.Object("account_state_before", accountState, func(tx TransactionRow) stateRow { return stateRow{tx.StateHashBefore, tx.StateBefore} }, nil),
	api.Object("account_state_after", accountState, stateAfter, nil),
	api.Bool("emulated", TransactionRow.foreseen).Doc("no block has it yet"),
	api.Word("finality", finalities, func(tx TransactionRow) string { return Finality(tx.Foreseen) }),
)

func only(t record.TransactionType) func(TransactionRow) bool {
	return func(tx TransactionRow) bool { return tx.Type == t }
}

// onlyOrForeseen holds also for what no block has: clients know it with more members.
func onlyOrForeseen(t record.TransactionType) func(TransactionRow) bool {
	return func(tx TransactionRow) bool { return tx.Type == t || tx.Foreseen }
}

func not(types ...record.TransactionType) func(TransactionRow) bool {
	var set uint
	for _, t := range types {
		set |= 1 << t
	}
	return func(tx TransactionRow) bool { return set>>tx.Type&1 == 0 }
}

// description is a transaction's (block.tlb, TransactionDescr); phases that did not
// run are missing.
var description = api.New("Description",
	api.Enum("type", types, TransactionRow.GetType),
	api.Bool("aborted", TransactionRow.GetAborted).If(not(record.TransactionType_STORAGE, record.TransactionType_SPLIT_INSTALL)),
	api.Bool("destroyed", TransactionRow.GetDestroyed).
		If(not(record.TransactionType_STORAGE, record.TransactionType_SPLIT_INSTALL, record.TransactionType_MERGE_PREPARE)),
	api.Bool("credit_first", TransactionRow.GetCreditFirst).If(only(record.TransactionType_ORD)),
	api.Bool("is_tock", TransactionRow.GetIsTock).If(onlyOrForeseen(record.TransactionType_TICK_TOCK)),
	api.Bool("installed", TransactionRow.GetInstalled).If(onlyOrForeseen(record.TransactionType_SPLIT_INSTALL)),
	api.PartOf("storage_ph", storagePhase, TransactionRow.GetStorage).Optional(),
	api.PartOf("credit_ph", creditPhase, TransactionRow.GetCredit).Optional(),
	api.PartOf("compute_ph", computePhase, TransactionRow.GetCompute).Optional(),
	api.PartOf("action", actionPhase, TransactionRow.GetAction).Optional(),
	api.PartOf("bounce", bouncePhase, TransactionRow.GetBounce).Optional(),
	api.PartOf("split_info", splitInfo, TransactionRow.GetSplit).Optional(),
)

type (
	storage = *record.StoragePhase
	credit  = *record.CreditPhase
	compute = *record.ComputePhase
	action  = *record.ActionPhase
	bounce  = *record.BouncePhase
	split   = *record.SplitInfo
)

var storagePhase = api.New("StoragePhase",
	api.Decimal("storage_fees_collected", storage.GetFeesCollected),
	api.DecimalIf("storage_fees_due", func(p storage) *uint64 { return p.FeesDue }).Optional(),
	api.Enum("status_change", statusChanges, storage.GetStatusChange),
)

var creditPhase = api.New("CreditPhase",
	api.DecimalIf("due_fees_collected", func(p credit) *uint64 { return p.DueFeesCollected }).Optional(),
	api.Decimal("credit", credit.GetCredit),
	currencies("credit_extra_currencies", credit.GetCreditExtra).If(func(p credit) bool { return len(p.CreditExtra) > 0 }),
)

func ran(p compute) bool     { return p.SkipReason == record.ComputePhase_NOT_SKIPPED }
func skipped(p compute) bool { return p.SkipReason != record.ComputePhase_NOT_SKIPPED }

// computePhase has the fields of its record, those below skip_reason where it ran.
var computePhase = api.New("ComputePhase", append([]api.Member[compute]{
	api.Bool("skipped", skipped),
	api.Enum("reason", skips, compute.GetSkipReason).If(skipped),
}, fields(ran, api.Uint32[compute, uint32], "skip_reason")...)...)

// size is how large messages are.
type size struct{ cells, bits uint64 }

var messageSize = api.New("MessageSize",
	api.Decimal("cells", func(s size) uint64 { return s.cells }),
	api.Decimal("bits", func(s size) uint64 { return s.bits }),
)

// actionPhase has the fields of its record, but one size of messages of two of them.
var actionPhase = api.New("ActionPhase", append(fields(nil, api.Int32[action, uint32], "tot_msg_cells", "tot_msg_bits"),
	api.Object("tot_msg_size", messageSize, func(p action) size { return size{p.TotMsgCells, p.TotMsgBits} }, nil))...)

func bounced(p bounce) bool {
	return p.Kind != record.BouncePhase_NEG_FUNDS && p.Kind != record.BouncePhase_NO_FUNDS
}

var bouncePhase = api.New("BouncePhase",
	api.Enum("type", bounces, bounce.GetKind),
	api.Object("msg_size", messageSize, func(p bounce) size { return size{p.MsgCells, p.MsgBits} }, nil).
		If(func(p bounce) bool { return p.Kind != record.BouncePhase_NEG_FUNDS }),
	api.Decimal("req_fwd_fees", bounce.GetReqFwdFees).If(func(p bounce) bool { return p.Kind == record.BouncePhase_NO_FUNDS }),
	api.Decimal("msg_fees", bounce.GetMsgFees).If(bounced),
	api.Decimal("fwd_fees", bounce.GetFwdFees).If(bounced),
)

var splitInfo = api.New("SplitInfo", fields(nil, api.Int32[split, uint32])...)

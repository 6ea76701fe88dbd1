package render

import "tonscribe/schema/record"

// TransactionOptions are what a transaction's own record does not say.
type TransactionOptions struct {
	// TraceID is the hash of the trace's root transaction; left out when empty.
	TraceID []byte
}

var (
	statusNames       = [...]string{"uninit", "frozen", "active", "nonexist"}
	statusChangeNames = [...]string{"unchanged", "frozen", "deleted"}
	typeNames         = [...]string{"ord", "storage", "tick_tock", "split_prepare", "split_install", "merge_prepare", "merge_install"}
	skipNames         = [...]string{"", "no_state", "bad_state", "no_gas", "suspended"}
	bounceNames       = [...]string{"negfunds", "nofunds", "ok"}
)

// nameOf is empty for values of a newer record than this program knows.
func nameOf[T ~int32](names []string, v T) string {
	if v < 0 || int(v) >= len(names) {
		return ""
	}
	return names[v]
}

// Transaction appends a transaction (contract 3.9).
func Transaction(dst []byte, tx *record.Transaction, opts TransactionOptions) []byte {
	o := open(dst)
	o.address("account", tx.Account)
	o.hash("hash", tx.Hash)
	o.decimal("lt", tx.Lt)
	o.int("now", int64(tx.Now))
	o.int("mc_block_seqno", int64(tx.McSeqno))
	o.hashIf("trace_id", opts.TraceID)
	o.hash("prev_trans_hash", tx.PrevTransHash)
	o.decimal("prev_trans_lt", tx.PrevTransLt)
	o.word("orig_status", nameOf(statusNames[:], tx.OrigStatus))
	o.word("end_status", nameOf(statusNames[:], tx.EndStatus))
	o.decimal("total_fees", tx.TotalFees)
	o.key("total_fees_extra_currencies")
	o.dst = ExtraCurrencies(o.dst, tx.TotalFeesExtra)
	o.key("description")
	o.dst = description(o.dst, tx)
	o.key("block_ref")
	o.dst = blockID(o.dst, tx.Block.GetWorkchain(), tx.Block.GetShard(), tx.Block.GetSeqno())
	o.key("in_msg")
	if tx.InMsg == nil {
		o.dst = append(o.dst, "null"...)
	} else {
		o.dst = Message(o.dst, tx.InMsg, MessageOptions{})
	}
	o.key("out_msgs")
	o.dst = append(o.dst, '[')
	for i, m := range tx.OutMsgs {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = Message(o.dst, m, MessageOptions{})
	}
	o.dst = append(o.dst, ']')
	o.key("account_state_before")
	o.dst = accountState(o.dst, tx.StateHashBefore, tx.StateBefore)
	o.key("account_state_after")
	o.dst = accountState(o.dst, tx.StateHashAfter, tx.StateAfter)
	o.bool("emulated", false)
	o.word("finality", "finalized")
	return o.close()
}

// flags says which flags a transaction type has besides aborted and destroyed,
// which all but storage and split_install have (block.tlb, TransactionDescr).
func flags(o *object, tx *record.Transaction) {
	if tx.Type != record.TransactionType_STORAGE && tx.Type != record.TransactionType_SPLIT_INSTALL {
		o.bool("aborted", tx.Aborted)
		if tx.Type != record.TransactionType_MERGE_PREPARE {
			o.bool("destroyed", tx.Destroyed)
		}
	}
	switch tx.Type {
	case record.TransactionType_ORD:
		o.bool("credit_first", tx.CreditFirst)
	case record.TransactionType_TICK_TOCK:
		o.bool("is_tock", tx.IsTock)
	case record.TransactionType_SPLIT_INSTALL:
		o.bool("installed", tx.Installed)
	}
}

// description appends a TransactionDescr (contract 3.10).
func description(dst []byte, tx *record.Transaction) []byte {
	o := open(dst)
	o.word("type", nameOf(typeNames[:], tx.Type))
	flags(&o, tx)
	if tx.Storage != nil {
		o.key("storage_ph")
		o.dst = storagePhase(o.dst, tx.Storage)
	}
	if tx.Credit != nil {
		o.key("credit_ph")
		o.dst = creditPhase(o.dst, tx.Credit)
	}
	if tx.Compute != nil {
		o.key("compute_ph")
		o.dst = computePhase(o.dst, tx.Compute)
	}
	if tx.Action != nil {
		o.key("action")
		o.dst = actionPhase(o.dst, tx.Action)
	}
	if tx.Bounce != nil {
		o.key("bounce")
		o.dst = bouncePhase(o.dst, tx.Bounce)
	}
	if tx.Split != nil {
		o.key("split_info")
		o.dst = splitInfo(o.dst, tx.Split)
	}
	return o.close()
}

func storagePhase(dst []byte, p *record.StoragePhase) []byte {
	o := open(dst)
	o.decimal("storage_fees_collected", p.FeesCollected)
	o.decimalIf("storage_fees_due", p.FeesDue)
	o.word("status_change", nameOf(statusChangeNames[:], p.StatusChange))
	return o.close()
}

func creditPhase(dst []byte, p *record.CreditPhase) []byte {
	o := open(dst)
	o.decimalIf("due_fees_collected", p.DueFeesCollected)
	o.decimal("credit", p.Credit)
	if len(p.CreditExtra) > 0 {
		o.key("credit_extra_currencies")
		o.dst = ExtraCurrencies(o.dst, p.CreditExtra)
	}
	return o.close()
}

func computePhase(dst []byte, p *record.ComputePhase) []byte {
	o := open(dst)
	if p.SkipReason != record.ComputePhase_NOT_SKIPPED {
		o.bool("skipped", true)
		o.word("reason", nameOf(skipNames[:], p.SkipReason))
		return o.close()
	}
	o.bool("skipped", false)
	o.bool("success", p.Success)
	o.bool("msg_state_used", p.MsgStateUsed)
	o.bool("account_activated", p.AccountActivated)
	o.decimal("gas_fees", p.GasFees)
	o.decimal("gas_used", p.GasUsed)
	o.decimal("gas_limit", p.GasLimit)
	o.decimalIf("gas_credit", p.GasCredit)
	o.int("mode", int64(p.Mode))
	o.int("exit_code", int64(p.ExitCode))
	if p.ExitArg != nil {
		o.int("exit_arg", int64(*p.ExitArg))
	}
	o.int("vm_steps", int64(p.VmSteps))
	o.hash("vm_init_state_hash", p.VmInitStateHash)
	o.hash("vm_final_state_hash", p.VmFinalStateHash)
	return o.close()
}

func actionPhase(dst []byte, p *record.ActionPhase) []byte {
	o := open(dst)
	o.bool("success", p.Success)
	o.bool("valid", p.Valid)
	o.bool("no_funds", p.NoFunds)
	o.word("status_change", nameOf(statusChangeNames[:], p.StatusChange))
	o.decimalIf("total_fwd_fees", p.TotalFwdFees)
	o.decimalIf("total_action_fees", p.TotalActionFees)
	o.int("result_code", int64(p.ResultCode))
	if p.ResultArg != nil {
		o.int("result_arg", int64(*p.ResultArg))
	}
	o.int("tot_actions", int64(p.TotActions))
	o.int("spec_actions", int64(p.SpecActions))
	o.int("skipped_actions", int64(p.SkippedActions))
	o.int("msgs_created", int64(p.MsgsCreated))
	o.hash("action_list_hash", p.ActionListHash)
	o.key("tot_msg_size")
	o.dst = messageSize(o.dst, p.TotMsgCells, p.TotMsgBits)
	return o.close()
}

func messageSize(dst []byte, cells, bits uint64) []byte {
	o := open(dst)
	o.decimal("cells", cells)
	o.decimal("bits", bits)
	return o.close()
}

func bouncePhase(dst []byte, p *record.BouncePhase) []byte {
	o := open(dst)
	o.word("type", nameOf(bounceNames[:], p.Kind))
	if p.Kind == record.BouncePhase_NEG_FUNDS {
		return o.close()
	}
	o.key("msg_size")
	o.dst = messageSize(o.dst, p.MsgCells, p.MsgBits)
	if p.Kind == record.BouncePhase_NO_FUNDS {
		o.decimal("req_fwd_fees", p.ReqFwdFees)
		return o.close()
	}
	o.decimal("msg_fees", p.MsgFees)
	o.decimal("fwd_fees", p.FwdFees)
	return o.close()
}

func splitInfo(dst []byte, s *record.SplitInfo) []byte {
	o := open(dst)
	o.int("cur_shard_pfx_len", int64(s.CurShardPfxLen))
	o.int("acc_split_depth", int64(s.AccSplitDepth))
	o.hash("this_addr", s.ThisAddr)
	o.hash("sibling_addr", s.SiblingAddr)
	return o.close()
}

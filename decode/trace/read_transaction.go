package trace

import (
	"errors"

	"tonscribe/schema/record"
)

// transaction has what the forms write about transactions.
type transaction struct {
	Account       account      `json:"account"`
	Hash          hash         `json:"hash"`
	Lt            number       `json:"lt"`
	Now           number       `json:"now"`
	McBlockSeqno  number       `json:"mc_block_seqno"`
	PrevTransHash hash         `json:"prev_trans_hash"`
	PrevTransLt   number       `json:"prev_trans_lt"`
	OrigStatus    string       `json:"orig_status"`
	EndStatus     string       `json:"end_status"`
	TotalFees     number       `json:"total_fees"`
	TotalExtra    currencies   `json:"total_fees_extra_currencies"`
	Before        *state       `json:"account_state_before"`
	After         *state       `json:"account_state_after"`
	HashBefore    hash         `json:"account_state_hash_before"`
	HashAfter     hash         `json:"account_state_hash_after"`
	BlockRef      *blockRef    `json:"block_ref"`
	InMsg         *message     `json:"in_msg"`
	OutMsgs       []message    `json:"out_msgs"`
	Messages      []message    `json:"messages"`
	Description   *description `json:"description"`

	// The recording has these in the place of a description.
	Descr          string  `json:"descr"`
	Aborted        bool    `json:"aborted"`
	Destroyed      bool    `json:"destroyed"`
	CreditFirst    bool    `json:"credit_first"`
	IsTock         bool    `json:"is_tock"`
	ExitCode       *int32  `json:"compute_exit_code"`
	ExitArg        *int32  `json:"compute_exit_arg"`
	SkippedReason  string  `json:"skipped_reason"`
	SkipReason     string  `json:"compute_skip_reason"`
	BounceRecorded string  `json:"bounce"`
	BlockSeqno     *number `json:"block_seqno"`
}

type state struct {
	Hash          hash       `json:"hash"`
	Balance       *number    `json:"balance"`
	Extra         currencies `json:"extra_currencies"`
	AccountStatus *string    `json:"account_status"`
	FrozenHash    hash       `json:"frozen_hash"`
	DataHash      hash       `json:"data_hash"`
	CodeHash      hash       `json:"code_hash"`
}

type blockRef struct {
	Workchain int32  `json:"workchain"`
	Shard     shard  `json:"shard"`
	Seqno     number `json:"seqno"`
}

type description struct {
	Type        string        `json:"type"`
	Aborted     bool          `json:"aborted"`
	Destroyed   bool          `json:"destroyed"`
	CreditFirst bool          `json:"credit_first"`
	IsTock      bool          `json:"is_tock"`
	Installed   bool          `json:"installed"`
	Storage     *storagePhase `json:"storage_ph"`
	Credit      *creditPhase  `json:"credit_ph"`
	Compute     *computePhase `json:"compute_ph"`
	Action      *actionPhase  `json:"action"`
	Bounce      *bouncePhase  `json:"bounce"`
	Split       *splitInfo    `json:"split_info"`
}

type storagePhase struct {
	Collected    number  `json:"storage_fees_collected"`
	Due          *number `json:"storage_fees_due"`
	StatusChange string  `json:"status_change"`
}

type creditPhase struct {
	Due    *number    `json:"due_fees_collected"`
	Credit number     `json:"credit"`
	Extra  currencies `json:"credit_extra_currencies"`
}

type computePhase struct {
	Skipped          bool    `json:"skipped"`
	Reason           string  `json:"reason"`
	Success          bool    `json:"success"`
	MsgStateUsed     bool    `json:"msg_state_used"`
	AccountActivated bool    `json:"account_activated"`
	GasFees          number  `json:"gas_fees"`
	GasUsed          number  `json:"gas_used"`
	GasLimit         number  `json:"gas_limit"`
	GasCredit        *number `json:"gas_credit"`
	Mode             int32   `json:"mode"`
	ExitCode         int32   `json:"exit_code"`
	ExitArg          *int32  `json:"exit_arg"`
	VMSteps          number  `json:"vm_steps"`
	VMInit           hash    `json:"vm_init_state_hash"`
	VMFinal          hash    `json:"vm_final_state_hash"`
}

type messageSize struct {
	Cells number `json:"cells"`
	Bits  number `json:"bits"`
}

type actionPhase struct {
	Success        bool        `json:"success"`
	Valid          bool        `json:"valid"`
	NoFunds        bool        `json:"no_funds"`
	StatusChange   string      `json:"status_change"`
	FwdFees        *number     `json:"total_fwd_fees"`
	ActionFees     *number     `json:"total_action_fees"`
	ResultCode     int32       `json:"result_code"`
	ResultArg      *int32      `json:"result_arg"`
	TotActions     number      `json:"tot_actions"`
	SpecActions    number      `json:"spec_actions"`
	SkippedActions number      `json:"skipped_actions"`
	MsgsCreated    number      `json:"msgs_created"`
	ActionListHash hash        `json:"action_list_hash"`
	TotMsgSize     messageSize `json:"tot_msg_size"`
}

type bouncePhase struct {
	Type       string       `json:"type"`
	Size       *messageSize `json:"msg_size"`
	ReqFwdFees number       `json:"req_fwd_fees"`
	MsgFees    number       `json:"msg_fees"`
	FwdFees    number       `json:"fwd_fees"`
}

type splitInfo struct {
	CurShardPfxLen number `json:"cur_shard_pfx_len"`
	AccSplitDepth  number `json:"acc_split_depth"`
	ThisAddr       hash   `json:"this_addr"`
	SiblingAddr    hash   `json:"sibling_addr"`
}

func (t *transaction) record(apart map[string]*content) (*record.Transaction, error) {
	switch {
	case t.Account == nil:
		return nil, errors.New("no account")
	case t.Hash == nil:
		return nil, errors.New("no hash")
	}
	r := &record.Transaction{
		Account: t.Account, Hash: t.Hash, Lt: uint64(t.Lt), PrevTransHash: t.PrevTransHash, PrevTransLt: uint64(t.PrevTransLt),
		OrigStatus: word[record.AccountStatus](statuses, t.OrigStatus), EndStatus: word[record.AccountStatus](statuses, t.EndStatus),
		TotalFees: uint64(t.TotalFees), StateHashBefore: t.HashBefore, StateHashAfter: t.HashAfter,
	}
	var err, errSeqno, errExtra error
	r.Now, err = limited(t.Now)
	r.McSeqno, errSeqno = limited(t.McBlockSeqno)
	r.TotalFeesExtra, errExtra = t.TotalExtra.record()
	if err := errors.Join(err, errSeqno, errExtra); err != nil {
		return nil, err
	}
	if err := t.states(r); err != nil {
		return nil, err
	}
	if b := t.BlockRef; b != nil {
		r.Block = &record.BlockRef{Workchain: b.Workchain, Shard: uint64(b.Shard), Seqno: uint32(b.Seqno)}
	} else if t.BlockSeqno != nil {
		r.Block = &record.BlockRef{Seqno: uint32(*t.BlockSeqno)}
	}
	if d := t.Description; d != nil {
		err = d.fill(r)
	} else {
		t.recorded(r)
	}
	if err != nil {
		return nil, err
	}
	return r, t.messages(r, apart)
}

func (t *transaction) states(r *record.Transaction) (err error) {
	fill := func(s *state, hash *[]byte, into **record.AccountState) {
		if s == nil {
			return
		}
		*hash = s.Hash
		if s.AccountStatus == nil {
			return
		}
		a := &record.AccountState{Status: word[record.AccountStatus](statuses, *s.AccountStatus), FrozenHash: s.FrozenHash,
			DataHash: s.DataHash, CodeHash: s.CodeHash, ExtraUnknown: s.Extra == nil}
		if s.Balance != nil {
			a.Balance = uint64(*s.Balance)
		}
		if a.ExtraCurrencies, err = s.Extra.record(); err == nil {
			*into = a
		}
	}
	fill(t.Before, &r.StateHashBefore, &r.StateBefore)
	fill(t.After, &r.StateHashAfter, &r.StateAfter)
	return err
}

// recorded fills in what a recording says instead of a description.
func (t *transaction) recorded(r *record.Transaction) {
	r.Type = word[record.TransactionType](types, t.Descr)
	r.Aborted, r.Destroyed, r.CreditFirst, r.IsTock = t.Aborted, t.Destroyed, t.CreditFirst, t.IsTock
	reason := t.SkippedReason
	if reason == "" {
		reason = t.SkipReason
	}
	switch {
	case reason != "":
		r.Compute = &record.ComputePhase{SkipReason: word[record.ComputePhase_SkipReason](skips, reason)}
	case t.ExitCode != nil:
		r.Compute = &record.ComputePhase{ExitCode: *t.ExitCode, ExitArg: t.ExitArg, Success: *t.ExitCode == 0 || *t.ExitCode == 1}
	}
	if t.BounceRecorded != "" {
		r.Bounce = &record.BouncePhase{Kind: word[record.BouncePhase_Kind](bounces, t.BounceRecorded)}
	}
}

func (t *transaction) messages(r *record.Transaction, apart map[string]*content) (err error) {
	out := t.OutMsgs
	in := t.InMsg
	for i := range t.Messages {
		if m := &t.Messages[i]; m.Direction == "in" {
			in = m
		} else {
			out = append(out, *m)
		}
	}
	if in != nil {
		if r.InMsg, err = in.record(true, apart); err != nil {
			return err
		}
	}
	for i := range out {
		m, err := out[i].record(false, apart)
		if err != nil {
			return err
		}
		r.OutMsgs = append(r.OutMsgs, m)
	}
	byCreation(r.OutMsgs)
	return nil
}

func (d *description) fill(r *record.Transaction) (err error) {
	r.Type = word[record.TransactionType](types, d.Type)
	r.Aborted, r.Destroyed, r.CreditFirst, r.IsTock, r.Installed = d.Aborted, d.Destroyed, d.CreditFirst, d.IsTock, d.Installed
	if p := d.Storage; p != nil {
		r.Storage = &record.StoragePhase{FeesCollected: uint64(p.Collected), FeesDue: p.Due.pointer(), StatusChange: word[record.StatusChange](changes, p.StatusChange)}
	}
	if p := d.Credit; p != nil {
		r.Credit = &record.CreditPhase{DueFeesCollected: p.Due.pointer(), Credit: uint64(p.Credit)}
		if r.Credit.CreditExtra, err = p.Extra.record(); err != nil {
			return err
		}
	}
	if p := d.Compute; p != nil {
		r.Compute = p.record()
	}
	if p := d.Action; p != nil {
		r.Action = &record.ActionPhase{Success: p.Success, Valid: p.Valid, NoFunds: p.NoFunds,
			StatusChange: word[record.StatusChange](changes, p.StatusChange), TotalFwdFees: p.FwdFees.pointer(), TotalActionFees: p.ActionFees.pointer(),
			ResultCode: p.ResultCode, ResultArg: p.ResultArg, TotActions: uint32(p.TotActions), SpecActions: uint32(p.SpecActions),
			SkippedActions: uint32(p.SkippedActions), MsgsCreated: uint32(p.MsgsCreated), ActionListHash: p.ActionListHash,
			TotMsgCells: uint64(p.TotMsgSize.Cells), TotMsgBits: uint64(p.TotMsgSize.Bits)}
	}
	if p := d.Bounce; p != nil {
		r.Bounce = &record.BouncePhase{Kind: word[record.BouncePhase_Kind](bounces, p.Type), ReqFwdFees: uint64(p.ReqFwdFees),
			MsgFees: uint64(p.MsgFees), FwdFees: uint64(p.FwdFees)}
		if p.Size != nil {
			r.Bounce.MsgCells, r.Bounce.MsgBits = uint64(p.Size.Cells), uint64(p.Size.Bits)
		}
	}
	if p := d.Split; p != nil {
		r.Split = &record.SplitInfo{CurShardPfxLen: uint32(p.CurShardPfxLen), AccSplitDepth: uint32(p.AccSplitDepth), ThisAddr: p.ThisAddr, SiblingAddr: p.SiblingAddr}
	}
	return nil
}

func (p *computePhase) record() *record.ComputePhase {
	if p.Skipped {
		return &record.ComputePhase{SkipReason: max(word[record.ComputePhase_SkipReason](skips, p.Reason), record.ComputePhase_NO_STATE)}
	}
	return &record.ComputePhase{Success: p.Success, MsgStateUsed: p.MsgStateUsed, AccountActivated: p.AccountActivated,
		GasFees: uint64(p.GasFees), GasUsed: uint64(p.GasUsed), GasLimit: uint64(p.GasLimit), GasCredit: p.GasCredit.pointer(),
		Mode: p.Mode, ExitCode: p.ExitCode, ExitArg: p.ExitArg, VmSteps: uint32(p.VMSteps), VmInitStateHash: p.VMInit, VmFinalStateHash: p.VMFinal}
}

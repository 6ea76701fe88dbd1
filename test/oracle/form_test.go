package oracle

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"tonscribe/decode"
	"tonscribe/schema/record"
)

// The form into which both readers' findings are brought, read_blocks.py's as
// JSON. Hashes are hexadecimal; an address is workchain:account, an external one
// external:bits:data, none is empty.

type form struct {
	Error        string            `json:"error"`
	RootHash     string            `json:"root_hash"`
	Header       *headerForm       `json:"header"` // nil for a lone transaction
	Transactions []transactionForm `json:"transactions"`
	// Imported and Created are the messages that InMsgDescr and OutMsgDescr name
	// with a transaction: hash of the message → hash of the transaction.
	Imported map[string]string `json:"imported"`
	Created  map[string]string `json:"created"`
}

type headerForm struct {
	GlobalID                int32       `json:"global_id"`
	Workchain               int32       `json:"workchain"`
	Shard                   string      `json:"shard"`
	Seqno                   uint32      `json:"seqno"`
	Version                 uint32      `json:"version"`
	AfterMerge              bool        `json:"after_merge"`
	BeforeSplit             bool        `json:"before_split"`
	AfterSplit              bool        `json:"after_split"`
	WantMerge               bool        `json:"want_merge"`
	WantSplit               bool        `json:"want_split"`
	KeyBlock                bool        `json:"key_block"`
	VertSeqnoIncr           bool        `json:"vert_seqno_incr"`
	Flags                   uint32      `json:"flags"`
	GenUtime                uint32      `json:"gen_utime"`
	StartLT                 uint64      `json:"start_lt"`
	EndLT                   uint64      `json:"end_lt"`
	ValidatorListHashShort  uint32      `json:"validator_list_hash_short"`
	GenCatchainSeqno        uint32      `json:"gen_catchain_seqno"`
	MinRefMCSeqno           uint32      `json:"min_ref_mc_seqno"`
	PrevKeyBlockSeqno       uint32      `json:"prev_key_block_seqno"`
	VertSeqno               uint32      `json:"vert_seqno"`
	GenSoftwareVersion      uint32      `json:"gen_software_version"`
	GenSoftwareCapabilities uint64      `json:"gen_software_capabilities"`
	MasterRefSeqno          uint32      `json:"master_ref_seqno"`
	RandSeed                string      `json:"rand_seed"`
	CreatedBy               string      `json:"created_by"`
	PrevBlocks              []blockForm `json:"prev_blocks"`
}

type blockForm struct {
	Seqno    uint32 `json:"seqno"`
	RootHash string `json:"root_hash"`
	FileHash string `json:"file_hash"`
}

type transactionForm struct {
	Account         string         `json:"account"`
	LT              uint64         `json:"lt"`
	Hash            string         `json:"hash"`
	PrevTransHash   string         `json:"prev_trans_hash"`
	PrevTransLT     uint64         `json:"prev_trans_lt"`
	Now             uint32         `json:"now"`
	OrigStatus      string         `json:"orig_status"`
	EndStatus       string         `json:"end_status"`
	TotalFees       currenciesForm `json:"total_fees"`
	StateHashBefore string         `json:"state_hash_before"`
	StateHashAfter  string         `json:"state_hash_after"`
	Type            string         `json:"type"`
	Aborted         bool           `json:"aborted"`
	Destroyed       bool           `json:"destroyed"`
	CreditFirst     bool           `json:"credit_first"`
	IsTock          bool           `json:"is_tock"`
	Storage         *storageForm   `json:"storage"`
	Credit          *creditForm    `json:"credit"`
	Compute         *computeForm   `json:"compute"`
	Action          *actionForm    `json:"action"`
	Bounce          *bounceForm    `json:"bounce"`
	InMsg           *messageForm   `json:"in_msg"`
	OutMsgs         []messageForm  `json:"out_msgs"`
}

type currenciesForm struct {
	Grams uint64            `json:"grams"`
	Extra map[string]string `json:"extra"` // decimal: id → amount
}

type storageForm struct {
	FeesCollected uint64  `json:"fees_collected"`
	FeesDue       *uint64 `json:"fees_due"`
	StatusChange  string  `json:"status_change"`
}

type creditForm struct {
	DueFeesCollected *uint64        `json:"due_fees_collected"`
	Credit           currenciesForm `json:"credit"`
}

type computeForm struct {
	SkipReason       string  `json:"skip_reason"`
	Success          bool    `json:"success"`
	MsgStateUsed     bool    `json:"msg_state_used"`
	AccountActivated bool    `json:"account_activated"`
	GasFees          uint64  `json:"gas_fees"`
	GasUsed          uint64  `json:"gas_used"`
	GasLimit         uint64  `json:"gas_limit"`
	GasCredit        *uint64 `json:"gas_credit"`
	Mode             int32   `json:"mode"`
	ExitCode         int32   `json:"exit_code"`
	ExitArg          *int32  `json:"exit_arg"`
	VMSteps          uint32  `json:"vm_steps"`
	VMInitStateHash  string  `json:"vm_init_state_hash"`
	VMFinalStateHash string  `json:"vm_final_state_hash"`
}

type actionForm struct {
	Success         bool    `json:"success"`
	Valid           bool    `json:"valid"`
	NoFunds         bool    `json:"no_funds"`
	StatusChange    string  `json:"status_change"`
	TotalFwdFees    *uint64 `json:"total_fwd_fees"`
	TotalActionFees *uint64 `json:"total_action_fees"`
	ResultCode      int32   `json:"result_code"`
	ResultArg       *int32  `json:"result_arg"`
	TotActions      uint32  `json:"tot_actions"`
	SpecActions     uint32  `json:"spec_actions"`
	SkippedActions  uint32  `json:"skipped_actions"`
	MsgsCreated     uint32  `json:"msgs_created"`
	ActionListHash  string  `json:"action_list_hash"`
	TotMsgCells     uint64  `json:"tot_msg_cells"`
	TotMsgBits      uint64  `json:"tot_msg_bits"`
}

type bounceForm struct {
	Kind       string `json:"kind"`
	MsgCells   uint64 `json:"msg_cells"`
	MsgBits    uint64 `json:"msg_bits"`
	ReqFwdFees uint64 `json:"req_fwd_fees"`
	MsgFees    uint64 `json:"msg_fees"`
	FwdFees    uint64 `json:"fwd_fees"`
}

type messageForm struct {
	Kind          string         `json:"kind"`
	Hash          string         `json:"hash"`
	HashNorm      string         `json:"hash_norm"` // external_in only
	Source        string         `json:"source"`
	Destination   string         `json:"destination"`
	Value         currenciesForm `json:"value"`
	FwdFee        uint64         `json:"fwd_fee"`
	IHRFee        uint64         `json:"ihr_fee"` // or extra_flags: pytoniq-core does not tell them apart
	CreatedLT     uint64         `json:"created_lt"`
	CreatedAt     uint32         `json:"created_at"`
	IHRDisabled   bool           `json:"ihr_disabled"`
	Bounce        bool           `json:"bounce"`
	Bounced       bool           `json:"bounced"`
	ImportFee     uint64         `json:"import_fee"`
	Opcode        *uint32        `json:"opcode"`
	BodyHash      string         `json:"body_hash"`
	InitStateHash string         `json:"init_state_hash"` // empty without one
}

// formOfBlock also makes Imported and Created of the transactions' messages, so
// that they are what the block's message descriptions must name.
func formOfBlock(r *decode.Result) *form {
	f := &form{
		RootHash: hex.EncodeToString(r.Block.Id.RootHash), Header: formOfHeader(r.Block),
		Imported: map[string]string{}, Created: map[string]string{},
	}
	for _, t := range r.Transactions {
		tf := formOfTransaction(t)
		f.Transactions = append(f.Transactions, tf)
		if tf.InMsg != nil {
			f.Imported[tf.InMsg.Hash] = tf.Hash
		}
		for _, m := range tf.OutMsgs {
			f.Created[m.Hash] = tf.Hash
		}
	}
	return f
}

func formOfHeader(b *record.Block) *headerForm {
	h := &headerForm{
		GlobalID: b.GlobalId, Workchain: b.Id.Workchain, Shard: fmt.Sprintf("%016x", b.Id.Shard), Seqno: b.Id.Seqno,
		Version: b.Version, AfterMerge: b.AfterMerge, BeforeSplit: b.BeforeSplit, AfterSplit: b.AfterSplit,
		WantMerge: b.WantMerge, WantSplit: b.WantSplit, KeyBlock: b.KeyBlock, VertSeqnoIncr: b.VertSeqnoIncr,
		Flags: b.Flags, GenUtime: b.GenUtime, StartLT: b.StartLt, EndLT: b.EndLt,
		ValidatorListHashShort: uint32(b.ValidatorListHashShort), GenCatchainSeqno: b.GenCatchainSeqno,
		MinRefMCSeqno: b.MinRefMcSeqno, PrevKeyBlockSeqno: b.PrevKeyBlockSeqno, VertSeqno: b.VertSeqno,
		GenSoftwareVersion: b.GenSoftwareVersion, GenSoftwareCapabilities: b.GenSoftwareCapabilities,
		MasterRefSeqno: b.MasterRefSeqno, RandSeed: hex.EncodeToString(b.RandSeed), CreatedBy: hex.EncodeToString(b.CreatedBy),
	}
	for _, p := range b.PrevBlocks {
		h.PrevBlocks = append(h.PrevBlocks, blockForm{p.Seqno, hex.EncodeToString(p.RootHash), hex.EncodeToString(p.FileHash)})
	}
	return h
}

func formOfTransaction(t *record.Transaction) transactionForm {
	f := transactionForm{
		Account: address(t.Account, nil), LT: t.Lt, Hash: hex.EncodeToString(t.Hash),
		PrevTransHash: hex.EncodeToString(t.PrevTransHash), PrevTransLT: t.PrevTransLt, Now: t.Now,
		OrigStatus: status(t.OrigStatus), EndStatus: status(t.EndStatus), TotalFees: currencies(t.TotalFees, t.TotalFeesExtra),
		StateHashBefore: hex.EncodeToString(t.StateHashBefore), StateHashAfter: hex.EncodeToString(t.StateHashAfter),
		Type: lower(t.Type), Aborted: t.Aborted, Destroyed: t.Destroyed, CreditFirst: t.CreditFirst, IsTock: t.IsTock,
		Compute: formOfCompute(t.Compute), Action: formOfAction(t.Action), Bounce: formOfBounce(t.Bounce),
	}
	if p := t.Storage; p != nil {
		f.Storage = &storageForm{p.FeesCollected, p.FeesDue, lower(p.StatusChange)}
	}
	if p := t.Credit; p != nil {
		f.Credit = &creditForm{p.DueFeesCollected, currencies(p.Credit, p.CreditExtra)}
	}
	if t.InMsg != nil {
		m := formOfMessage(t.InMsg)
		f.InMsg = &m
	}
	for _, m := range t.OutMsgs {
		f.OutMsgs = append(f.OutMsgs, formOfMessage(m))
	}
	return f
}

func formOfCompute(p *record.ComputePhase) *computeForm {
	if p == nil {
		return nil
	}
	f := &computeForm{
		Success: p.Success, MsgStateUsed: p.MsgStateUsed, AccountActivated: p.AccountActivated,
		GasFees: p.GasFees, GasUsed: p.GasUsed, GasLimit: p.GasLimit, GasCredit: p.GasCredit,
		Mode: p.Mode, ExitCode: p.ExitCode, ExitArg: p.ExitArg, VMSteps: p.VmSteps,
		VMInitStateHash: hex.EncodeToString(p.VmInitStateHash), VMFinalStateHash: hex.EncodeToString(p.VmFinalStateHash),
	}
	if p.SkipReason != record.ComputePhase_NOT_SKIPPED {
		f.SkipReason = lower(p.SkipReason)
	}
	return f
}

func formOfAction(p *record.ActionPhase) *actionForm {
	if p == nil {
		return nil
	}
	return &actionForm{
		Success: p.Success, Valid: p.Valid, NoFunds: p.NoFunds, StatusChange: lower(p.StatusChange),
		TotalFwdFees: p.TotalFwdFees, TotalActionFees: p.TotalActionFees, ResultCode: p.ResultCode, ResultArg: p.ResultArg,
		TotActions: p.TotActions, SpecActions: p.SpecActions, SkippedActions: p.SkippedActions, MsgsCreated: p.MsgsCreated,
		ActionListHash: hex.EncodeToString(p.ActionListHash), TotMsgCells: p.TotMsgCells, TotMsgBits: p.TotMsgBits,
	}
}

func formOfBounce(p *record.BouncePhase) *bounceForm {
	if p == nil {
		return nil
	}
	return &bounceForm{lower(p.Kind), p.MsgCells, p.MsgBits, p.ReqFwdFees, p.MsgFees, p.FwdFees}
}

func formOfMessage(m *record.Message) messageForm {
	f := messageForm{
		Kind: lower(m.Kind), Hash: hex.EncodeToString(m.Hash), HashNorm: hex.EncodeToString(m.HashNorm),
		Source: address(m.Source, m.SourceExternal), Destination: address(m.Destination, m.DestinationExternal),
		Value: currencies(m.Value, m.ValueExtra), FwdFee: m.FwdFee, IHRFee: m.IhrFee,
		CreatedLT: m.CreatedLt, CreatedAt: m.CreatedAt, IHRDisabled: m.IhrDisabled, Bounce: m.Bounce, Bounced: m.Bounced,
		ImportFee: m.ImportFee, Opcode: m.Opcode, BodyHash: hex.EncodeToString(m.BodyHash), InitStateHash: hex.EncodeToString(m.InitStateHash),
	}
	if m.Kind == record.Message_EXTERNAL_IN && f.HashNorm == "" {
		f.HashNorm = f.Hash
	}
	if m.ExtraFlags != nil {
		f.IHRFee = *m.ExtraFlags
	}
	return f
}

func address(account []byte, external *record.ExternalAddress) string {
	if external != nil {
		return fmt.Sprintf("external:%d:%x", external.Bits, external.Data)
	}
	if len(account) == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%x", int32(binary.BigEndian.Uint32(account)), account[4:])
}

func currencies(grams uint64, extra []*record.ExtraCurrency) currenciesForm {
	f := currenciesForm{Grams: grams, Extra: map[string]string{}}
	for _, c := range extra {
		f.Extra[fmt.Sprint(c.Id)] = new(big.Int).SetBytes(c.Amount).String()
	}
	return f
}

func status(s record.AccountStatus) string {
	return strings.TrimPrefix(lower(s), "account_")
}

func lower(s fmt.Stringer) string { return strings.ToLower(s.String()) }

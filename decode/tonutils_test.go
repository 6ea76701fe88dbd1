package decode

import (
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	tcell "github.com/xssnick/tonutils-go/tvm/cell"
	"google.golang.org/protobuf/encoding/prototext"

	"tonscribe/schema/record"
)

// TestEveryTransactionIsWhatTonutilsReads builds the record of every
// transaction a second time from tonutils-go's structures and its bags of
// cells.
func TestEveryTransactionIsWhatTonutilsReads(t *testing.T) {
	count := 0
	for _, f := range blockFiles(t) {
		r, err := Block(f.boc, 7)
		if err != nil {
			t.Fatal(err)
		}
		block, list, cells := tonutilsBlock(t, f.boc)
		want := map[string]*record.Transaction{}
		other := reference{t: t, workchain: block.BlockInfo.Shard.WorkchainID}
		if v := block.BlockInfo.GenSoftware; v != nil {
			other.version = v.Version
		}
		for _, tx := range list {
			w := other.transaction(tx, cells[string(tx.Hash)])
			w.McSeqno = 7
			w.Block = &record.BlockRef{Workchain: r.Block.Id.Workchain, Shard: r.Block.Id.Shard, Seqno: r.Block.Id.Seqno}
			want[string(w.Hash)] = w
		}
		if len(want) != len(r.Transactions) {
			t.Errorf("%s: %d transactions, tonutils-go has %d", f.fields["file"], len(r.Transactions), len(want))
		}
		for _, got := range r.Transactions {
			count++
			got.StateBefore, got.StateAfter = nil, nil // of the account, not of the transaction
			if w := want[string(got.Hash)]; !got.EqualVT(w) {
				t.Fatalf("%s:\n got %s\nwant %s", f.fields["file"], prototext.Format(got), prototext.Format(w))
			}
		}
	}
	t.Logf("%d transactions", count)
}

// tonutilsBlock reads a block with its transactions, and gives all cells by hash.
func tonutilsBlock(t testing.TB, boc []byte) (*tlb.Block, []*tlb.Transaction, map[string]*tcell.Cell) {
	t.Helper()
	root, err := tcell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	var block tlb.Block
	if err := tlb.Parse(&block, root); err != nil {
		t.Fatal(err)
	}
	list, err := block.ListTransactions()
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]*tcell.Cell{}
	collectCells(root, cells)
	return &block, list, cells
}

func collectCells(c *tcell.Cell, cells map[string]*tcell.Cell) {
	if hash := string(c.Hash()); cells[hash] == nil {
		cells[hash] = c
		for i := range int(c.RefsNum()) {
			collectCells(c.MustPeekRef(i), cells)
		}
	}
}

// reference makes records from what tonutils-go parsed.
type reference struct {
	t         testing.TB
	workchain int32
	version   uint32
}

func (r reference) transaction(tx *tlb.Transaction, c *tcell.Cell) *record.Transaction {
	status := map[tlb.AccountStatus]record.AccountStatus{
		tlb.AccountStatusActive: record.AccountStatus_ACCOUNT_ACTIVE, tlb.AccountStatusUninit: record.AccountStatus_ACCOUNT_UNINIT,
		tlb.AccountStatusFrozen: record.AccountStatus_ACCOUNT_FROZEN, tlb.AccountStatusNonExist: record.AccountStatus_ACCOUNT_NONEXIST,
	}
	w := &record.Transaction{
		Account: append([]byte{byte(r.workchain >> 24), byte(r.workchain >> 16), byte(r.workchain >> 8), byte(r.workchain)}, tx.AccountAddr...),
		Lt:      tx.LT, Hash: tx.Hash, Now: tx.Now, PrevTransHash: tx.PrevTxHash, PrevTransLt: tx.PrevTxLT,
		OrigStatus: status[tx.OrigStatus], EndStatus: status[tx.EndStatus],
		TotalFees: r.coins(tx.TotalFees.Coins), TotalFeesExtra: r.extra(tx.TotalFees.ExtraCurrencies),
		StateHashBefore: tx.StateUpdate.OldHash, StateHashAfter: tx.StateUpdate.NewHash,
	}
	r.description(tx.Description, w)
	if tx.IO.In != nil {
		w.InMsg = r.message(tx.IO.In, c.MustPeekRef(0).MustPeekRef(0))
	}
	if tx.IO.Out != nil {
		for i := range int(tx.OutMsgCount) {
			s, err := tx.IO.Out.List.LoadValueByIntKey(big.NewInt(int64(i)))
			if err != nil {
				r.t.Fatal(err)
			}
			c, err := s.LoadRefCell()
			if err != nil {
				r.t.Fatal(err)
			}
			var m tlb.Message
			if err := tlb.Parse(&m, c); err != nil {
				r.t.Fatal(err)
			}
			w.OutMsgs = append(w.OutMsgs, r.message(&m, c))
		}
	}
	return w
}

func (r reference) coins(c tlb.Coins) uint64 { return c.Nano().Uint64() }

func (r reference) maybeCoins(c *tlb.Coins) *uint64 {
	if c == nil {
		return nil
	}
	v := r.coins(*c)
	return &v
}

func (r reference) extra(d *tcell.Dictionary) (list []*record.ExtraCurrency) {
	if d.IsEmpty() {
		return nil
	}
	all, err := d.LoadAll()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, kv := range all {
		amount, err := kv.Value.LoadVarUInt(32)
		if err != nil {
			r.t.Fatal(err)
		}
		id, err := kv.Key.LoadUInt(32)
		if err != nil {
			r.t.Fatal(err)
		}
		list = append(list, &record.ExtraCurrency{Id: uint32(id), Amount: amount.Bytes()})
	}
	return list
}

func (r reference) description(description any, w *record.Transaction) {
	switch d := description.(type) {
	case tlb.TransactionDescriptionOrdinary:
		w.Type, w.CreditFirst, w.Aborted, w.Destroyed = record.TransactionType_ORD, d.CreditFirst, d.Aborted, d.Destroyed
		w.Storage, w.Credit, w.Compute = r.storage(d.StoragePhase), r.credit(d.CreditPhase), r.compute(d.ComputePhase)
		w.Action, w.Bounce = r.action(d.ActionPhase), r.bounce(d.BouncePhase)
	case tlb.TransactionDescriptionTickTock:
		w.Type, w.IsTock, w.Aborted, w.Destroyed = record.TransactionType_TICK_TOCK, d.IsTock, d.Aborted, d.Destroyed
		w.Storage, w.Compute, w.Action = r.storage(&d.StoragePhase), r.compute(d.ComputePhase), r.action(d.ActionPhase)
	case tlb.TransactionDescriptionStorage:
		w.Type, w.Storage = record.TransactionType_STORAGE, r.storage(&d.StoragePhase)
	case tlb.TransactionDescriptionSplitPrepare:
		w.Type, w.Aborted, w.Destroyed = record.TransactionType_SPLIT_PREPARE, d.Aborted, d.Destroyed
		w.Split, w.Storage = r.split(d.SplitInfo), r.storage(d.StoragePhase)
		w.Compute, w.Action = r.compute(d.ComputePhase), r.action(d.ActionPhase)
	case tlb.TransactionDescriptionSplitInstall:
		w.Type, w.Installed, w.Split = record.TransactionType_SPLIT_INSTALL, d.Installed, r.split(d.SplitInfo)
		w.PrepareTransactionHash = r.toCell(d.PrepareTransaction).Hash()
	case tlb.TransactionDescriptionMergePrepare:
		w.Type, w.Aborted = record.TransactionType_MERGE_PREPARE, d.Aborted
		w.Split, w.Storage = r.split(d.SplitInfo), r.storage(&d.StoragePhase)
	case tlb.TransactionDescriptionMergeInstall:
		w.Type, w.Aborted, w.Destroyed = record.TransactionType_MERGE_INSTALL, d.Aborted, d.Destroyed
		w.Split, w.Storage, w.Credit = r.split(d.SplitInfo), r.storage(d.StoragePhase), r.credit(d.CreditPhase)
		w.Compute, w.Action = r.compute(d.ComputePhase), r.action(d.ActionPhase)
		w.PrepareTransactionHash = r.toCell(d.PrepareTransaction).Hash()
	default:
		r.t.Fatalf("description %T", description)
	}
}

var statusChanges = map[tlb.AccStatusChangeType]record.StatusChange{
	tlb.AccStatusChangeUnchanged: record.StatusChange_UNCHANGED,
	tlb.AccStatusChangeFrozen:    record.StatusChange_FROZEN,
	tlb.AccStatusChangeDeleted:   record.StatusChange_DELETED,
}

func (r reference) storage(p *tlb.StoragePhase) *record.StoragePhase {
	if p == nil {
		return nil
	}
	return &record.StoragePhase{
		FeesCollected: r.coins(p.StorageFeesCollected), FeesDue: r.maybeCoins(p.StorageFeesDue),
		StatusChange: statusChanges[p.StatusChange.Type],
	}
}

func (r reference) credit(p *tlb.CreditPhase) *record.CreditPhase {
	if p == nil {
		return nil
	}
	return &record.CreditPhase{
		DueFeesCollected: r.maybeCoins(p.DueFeesCollected), Credit: r.coins(p.Credit.Coins),
		CreditExtra: r.extra(p.Credit.ExtraCurrencies),
	}
}

func (r reference) compute(c tlb.ComputePhase) *record.ComputePhase {
	switch p := c.Phase.(type) {
	case tlb.ComputePhaseSkipped:
		reason := map[tlb.ComputeSkipReasonType]record.ComputePhase_SkipReason{
			tlb.ComputeSkipReasonNoState: record.ComputePhase_NO_STATE, tlb.ComputeSkipReasonBadState: record.ComputePhase_BAD_STATE,
			tlb.ComputeSkipReasonNoGas: record.ComputePhase_NO_GAS, tlb.ComputeSkipReasonSuspended: record.ComputePhase_SUSPENDED,
		}
		return &record.ComputePhase{SkipReason: reason[p.Reason.Type]}
	case tlb.ComputePhaseVM:
		w := &record.ComputePhase{
			Success: p.Success, MsgStateUsed: p.MsgStateUsed, AccountActivated: p.AccountActivated, GasFees: r.coins(p.GasFees),
			GasUsed: p.Details.GasUsed.Uint64(), GasLimit: p.Details.GasLimit.Uint64(), Mode: int32(p.Details.Mode),
			ExitCode: p.Details.ExitCode, ExitArg: p.Details.ExitArg, VmSteps: p.Details.VMSteps,
			VmInitStateHash: p.Details.VMInitStateHash, VmFinalStateHash: p.Details.VMFinalStateHash,
		}
		if p.Details.GasCredit != nil {
			v := p.Details.GasCredit.Uint64()
			w.GasCredit = &v
		}
		return w
	}
	r.t.Fatalf("compute phase %T", c.Phase)
	return nil
}

func (r reference) action(p *tlb.ActionPhase) *record.ActionPhase {
	if p == nil {
		return nil
	}
	return &record.ActionPhase{
		Success: p.Success, Valid: p.Valid, NoFunds: p.NoFunds, StatusChange: statusChanges[p.StatusChange.Type],
		TotalFwdFees: r.maybeCoins(p.TotalFwdFees), TotalActionFees: r.maybeCoins(p.TotalActionFees),
		ResultCode: p.ResultCode, ResultArg: p.ResultArg, TotActions: uint32(p.TotalActions), SpecActions: uint32(p.SpecActions),
		SkippedActions: uint32(p.SkippedActions), MsgsCreated: uint32(p.MessagesCreated), ActionListHash: p.ActionListHash,
		TotMsgCells: p.TotalMsgSize.Cells.Uint64(), TotMsgBits: p.TotalMsgSize.Bits.Uint64(),
	}
}

func (r reference) bounce(b *tlb.BouncePhase) *record.BouncePhase {
	if b == nil {
		return nil
	}
	switch p := b.Phase.(type) {
	case tlb.BouncePhaseNegFunds:
		return &record.BouncePhase{Kind: record.BouncePhase_NEG_FUNDS}
	case tlb.BouncePhaseNoFunds:
		return &record.BouncePhase{
			Kind: record.BouncePhase_NO_FUNDS, MsgCells: p.MsgSize.Cells.Uint64(), MsgBits: p.MsgSize.Bits.Uint64(),
			ReqFwdFees: r.coins(p.ReqFwdFees),
		}
	case tlb.BouncePhaseOk:
		return &record.BouncePhase{
			Kind: record.BouncePhase_OK, MsgCells: p.MsgSize.Cells.Uint64(), MsgBits: p.MsgSize.Bits.Uint64(),
			MsgFees: r.coins(p.MsgFees), FwdFees: r.coins(p.FwdFees),
		}
	}
	r.t.Fatalf("bounce phase %T", b.Phase)
	return nil
}

func (r reference) split(p tlb.SplitMergeInfo) *record.SplitInfo {
	return &record.SplitInfo{
		CurShardPfxLen: uint32(p.CurShardPfxLen), AccSplitDepth: uint32(p.AccSplitDepth),
		ThisAddr: p.ThisAddr, SiblingAddr: p.SiblingAddr,
	}
}

// message makes the record of a message from its cell c.
func (r reference) message(m *tlb.Message, c *tcell.Cell) *record.Message {
	w := &record.Message{Hash: c.Hash()}
	var body *tcell.Cell
	var init *tlb.StateInit
	switch v := m.Msg.(type) {
	case *tlb.InternalMessage:
		w.Kind, w.IhrDisabled, w.Bounce, w.Bounced = record.Message_INTERNAL, v.IHRDisabled, v.Bounce, v.Bounced
		w.Source, _ = r.address(v.SrcAddr)
		w.Destination, _ = r.address(v.DstAddr)
		w.Value, w.ValueExtra, w.FwdFee = r.coins(v.Amount), r.extra(v.ExtraCurrencies), r.coins(v.FwdFee)
		if w.IhrFee = r.coins(v.IHRFee); r.version >= 12 {
			flags := w.IhrFee
			w.ExtraFlags, w.IhrFee = &flags, 0
		}
		w.CreatedLt, w.CreatedAt, body, init = v.CreatedLT, v.CreatedAt, v.Body, v.StateInit
	case *tlb.ExternalMessage:
		w.Kind, w.ImportFee = record.Message_EXTERNAL_IN, r.coins(v.ImportFee)
		w.Source, w.SourceExternal = r.address(v.SrcAddr)
		w.Destination, _ = r.address(v.DstAddr)
		if norm := v.NormalizedHash(); string(norm) != string(w.Hash) {
			w.HashNorm = norm
		}
		body, init = v.Body, v.StateInit
	case *tlb.ExternalMessageOut:
		w.Kind = record.Message_EXTERNAL_OUT
		w.Source, _ = r.address(v.SrcAddr)
		w.Destination, w.DestinationExternal = r.address(v.DstAddr)
		w.CreatedLt, w.CreatedAt, body, init = v.CreatedLT, v.CreatedAt, v.Body, v.StateInit
	default:
		r.t.Fatalf("message %T", m.Msg)
	}
	w.Body, w.BodyHash = r.boc(body), body.Hash()
	if s, err := body.BeginParse(); err == nil && s.BitsLeft() >= 32 {
		v, _ := s.LoadUInt(32)
		opcode := uint32(v)
		w.Opcode = &opcode
	}
	if init != nil {
		c := r.toCell(init)
		w.InitState, w.InitStateHash = r.boc(c), c.Hash()
	}
	return w
}

func (r reference) boc(c *tcell.Cell) []byte {
	return c.ToBOCWithOptions(tcell.BOCSerializeOptions{WithCRC32C: true})
}

func (r reference) toCell(v any) *tcell.Cell {
	c, err := tlb.ToCell(v)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r reference) address(a *address.Address) ([]byte, *record.ExternalAddress) {
	switch {
	case a == nil || a.IsAddrNone():
		return nil, nil
	case a.Type() == address.ExtAddress:
		return nil, &record.ExternalAddress{Bits: uint32(a.BitsLen()), Data: a.Data()}
	case len(a.Data()) != 32:
		return nil, nil
	}
	wc := uint32(a.Workchain())
	w := append([]byte{byte(wc >> 24), byte(wc >> 16), byte(wc >> 8), byte(wc)}, a.Data()...)
	if anycast := a.Anycast(); anycast != nil {
		for i := range int(anycast.Depth()) {
			bit := byte(0x80) >> (i % 8)
			w[4+i/8] = w[4+i/8]&^bit | anycast.Prefix()[i/8]&bit
		}
	}
	return w, nil
}

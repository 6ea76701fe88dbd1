package decode

import (
	"fmt"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// description reads TransactionDescr.
func (d *Decoder) description(s *cell.Slice, t *record.Transaction) error {
	var err error
	switch tag := s.Uint(3); tag {
	case 0: // trans_ord$0000, trans_storage$0001
		if s.Bool() {
			t.Type = record.TransactionType_STORAGE
			t.Storage = d.storagePhase(s)
			break
		}
		t.Type = record.TransactionType_ORD
		t.CreditFirst = s.Bool()
		err = d.phases(s, t, true, true, true)
	case 1: // trans_tick_tock$001
		t.Type = record.TransactionType_TICK_TOCK
		t.IsTock = s.Bool()
		t.Storage = d.storagePhase(s)
		err = d.phases(s, t, false, false, false)
	case 2: // trans_split_prepare$0100, trans_split_install$0101
		if s.Bool() {
			t.Type = record.TransactionType_SPLIT_INSTALL
			t.Split = d.splitInfo(s)
			t.PrepareTransactionHash = d.prepared(s)
			t.Installed = s.Bool()
			break
		}
		t.Type = record.TransactionType_SPLIT_PREPARE
		t.Split = d.splitInfo(s)
		err = d.phases(s, t, true, false, false)
	case 3: // trans_merge_prepare$0110, trans_merge_install$0111
		if s.Bool() {
			t.Type = record.TransactionType_MERGE_INSTALL
			t.Split = d.splitInfo(s)
			t.PrepareTransactionHash = d.prepared(s)
			err = d.phases(s, t, true, true, false)
			break
		}
		t.Type = record.TransactionType_MERGE_PREPARE
		t.Split = d.splitInfo(s)
		t.Storage = d.storagePhase(s)
		t.Aborted = s.Bool()
	default:
		s.FailTag()
	}
	if err != nil {
		return err
	}
	return s.Err()
}

// phases reads what the descriptions have in common: optional storage and credit
// phases where they are asked for, compute and action phase, aborted, an
// optional bounce phase, destroyed.
func (d *Decoder) phases(s *cell.Slice, t *record.Transaction, storage, credit, bounce bool) (err error) {
	if storage && s.Bool() {
		t.Storage = d.storagePhase(s)
	}
	if credit && s.Bool() {
		if t.Credit, err = d.creditPhase(s); err != nil {
			return fmt.Errorf("credit phase: %w", err)
		}
	}
	if t.Compute, err = d.computePhase(s); err != nil {
		return fmt.Errorf("compute phase: %w", err)
	}
	if s.Bool() {
		action := s.Next()
		t.Action = d.actionPhase(&action)
		if action.Failed() {
			return fmt.Errorf("action phase: %w", action.Err())
		}
	}
	t.Aborted = s.Bool()
	if bounce && s.Bool() {
		t.Bounce = d.bouncePhase(s)
	}
	t.Destroyed = s.Bool()
	return nil
}

// storagePhase reads tr_phase_storage.
func (d *Decoder) storagePhase(s *cell.Slice) *record.StoragePhase {
	p := d.memory.storage.next()
	p.FeesCollected = s.VarUint(4)
	p.FeesDue = d.maybeGrams(s)
	p.StatusChange = statusChange(s)
	return p
}

func (d *Decoder) maybeGrams(s *cell.Slice) *uint64 {
	if !s.Bool() {
		return nil
	}
	return d.memory.uint64(s.VarUint(4))
}

// statusChange reads AccStatusChange.
func statusChange(s *cell.Slice) record.StatusChange {
	switch {
	case !s.Bool():
		return record.StatusChange_UNCHANGED
	case !s.Bool():
		return record.StatusChange_FROZEN
	}
	return record.StatusChange_DELETED
}

// creditPhase reads tr_phase_credit.
func (d *Decoder) creditPhase(s *cell.Slice) (p *record.CreditPhase, err error) {
	p = d.memory.credit.next()
	p.DueFeesCollected = d.maybeGrams(s)
	p.Credit = s.VarUint(4)
	p.CreditExtra, err = d.extraCurrencies(s)
	return p, err
}

// computePhase reads TrComputePhase.
func (d *Decoder) computePhase(s *cell.Slice) (*record.ComputePhase, error) {
	p := d.memory.compute.next()
	if !s.Bool() {
		p.SkipReason = skipReason(s)
		return p, nil
	}
	p.Success, p.MsgStateUsed, p.AccountActivated = s.Bool(), s.Bool(), s.Bool()
	p.GasFees = s.VarUint(4)
	v := s.Next()
	p.GasUsed, p.GasLimit = v.VarUint(3), v.VarUint(3)
	if v.Bool() {
		p.GasCredit = d.memory.uint64(v.VarUint(2))
	}
	p.Mode = int32(v.Int(8))
	p.ExitCode = int32(v.Uint(32))
	p.ExitArg = d.maybeInt32(&v)
	p.VmSteps = uint32(v.Uint(32))
	p.VmInitStateHash, p.VmFinalStateHash = d.bytes32(&v), d.bytes32(&v)
	return p, v.Err()
}

func (d *Decoder) maybeInt32(s *cell.Slice) *int32 {
	if !s.Bool() {
		return nil
	}
	v := int32(s.Uint(32))
	return &v
}

// skipReason reads ComputeSkipReason.
func skipReason(s *cell.Slice) record.ComputePhase_SkipReason {
	switch s.Uint(2) {
	case 0:
		return record.ComputePhase_NO_STATE
	case 1:
		return record.ComputePhase_BAD_STATE
	case 2:
		return record.ComputePhase_NO_GAS
	}
	if s.Bool() { // cskip_suspended$110 is the only one with this beginning
		s.FailTag()
	}
	return record.ComputePhase_SUSPENDED
}

// actionPhase reads tr_phase_action.
func (d *Decoder) actionPhase(s *cell.Slice) *record.ActionPhase {
	p := d.memory.action.next()
	p.Success, p.Valid, p.NoFunds = s.Bool(), s.Bool(), s.Bool()
	p.StatusChange = statusChange(s)
	p.TotalFwdFees, p.TotalActionFees = d.maybeGrams(s), d.maybeGrams(s)
	p.ResultCode = int32(s.Uint(32))
	p.ResultArg = d.maybeInt32(s)
	p.TotActions, p.SpecActions = uint32(s.Uint(16)), uint32(s.Uint(16))
	p.SkippedActions, p.MsgsCreated = uint32(s.Uint(16)), uint32(s.Uint(16))
	p.ActionListHash = d.bytes32(s)
	p.TotMsgCells, p.TotMsgBits = s.VarUint(3), s.VarUint(3)
	return p
}

// bouncePhase reads TrBouncePhase.
func (d *Decoder) bouncePhase(s *cell.Slice) *record.BouncePhase {
	p := d.memory.bounce.next()
	switch {
	case s.Bool(): // tr_phase_bounce_ok$1
		p.Kind = record.BouncePhase_OK
		p.MsgCells, p.MsgBits = s.VarUint(3), s.VarUint(3)
		p.MsgFees, p.FwdFees = s.VarUint(4), s.VarUint(4)
	case s.Bool(): // tr_phase_bounce_nofunds$01
		p.Kind = record.BouncePhase_NO_FUNDS
		p.MsgCells, p.MsgBits = s.VarUint(3), s.VarUint(3)
		p.ReqFwdFees = s.VarUint(4)
	default: // tr_phase_bounce_negfunds$00
		p.Kind = record.BouncePhase_NEG_FUNDS
	}
	return p
}

// splitInfo reads split_merge_info.
func (d *Decoder) splitInfo(s *cell.Slice) *record.SplitInfo {
	p := &record.SplitInfo{CurShardPfxLen: uint32(s.Uint(6)), AccSplitDepth: uint32(s.Uint(6))}
	p.ThisAddr, p.SiblingAddr = d.bytes32(s), d.bytes32(s)
	return p
}

// prepared is the hash of the transaction that prepared a split or merge.
func (d *Decoder) prepared(s *cell.Slice) []byte {
	c := s.Ref()
	if !c.Valid() {
		return nil
	}
	return d.hash(c.Hash())
}

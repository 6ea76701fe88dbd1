package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

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
	Emulated      bool         `json:"emulated"`

	// The recording has these in the place of a description.
	Descr          string  `json:"descr"`
	Aborted        bool    `json:"aborted"`
	Destroyed      bool    `json:"destroyed"`
	CreditFirst    bool    `json:"credit_first"`
	IsTock         bool    `json:"is_tock"`
	SkippedReason  string  `json:"skipped_reason"`
	SkipReason     string  `json:"compute_skip_reason"`
	BounceRecorded string  `json:"bounce"`
	BlockSeqno     *number `json:"block_seqno"`
	members        members // compute_mode … are those of the compute phase
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
	Type        string  `json:"type"`
	Aborted     bool    `json:"aborted"`
	Destroyed   bool    `json:"destroyed"`
	CreditFirst bool    `json:"credit_first"`
	IsTock      bool    `json:"is_tock"`
	Installed   bool    `json:"installed"`
	Storage     members `json:"storage_ph"`
	Credit      members `json:"credit_ph"`
	Compute     members `json:"compute_ph"`
	Action      members `json:"action"`
	Bounce      members `json:"bounce"`
	Split       members `json:"split_info"`
}

func (t *transaction) UnmarshalJSON(text []byte) error {
	type plain transaction
	if err := json.Unmarshal(text, (*plain)(t)); err != nil || t.Description != nil {
		return err
	}
	return json.Unmarshal(text, &t.members)
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
		err = t.recorded(r)
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
func (t *transaction) recorded(r *record.Transaction) error {
	r.Type = word[record.TransactionType](types, t.Descr)
	r.Aborted, r.Destroyed, r.CreditFirst, r.IsTock = t.Aborted, t.Destroyed, t.CreditFirst, t.IsTock
	if t.BounceRecorded != "" {
		r.Bounce = &record.BouncePhase{Kind: word[record.BouncePhase_Kind](bounces, t.BounceRecorded)}
	}
	if reason := cmp.Or(t.SkippedReason, t.SkipReason); reason != "" {
		r.Compute = &record.ComputePhase{SkipReason: word[record.ComputePhase_SkipReason](skips, reason)}
		return nil
	}
	compute := members{}
	for name, text := range t.members {
		if name, is := strings.CutPrefix(name, "compute_"); is && string(text) != "null" {
			compute[name] = text
		}
	}
	if len(compute) == 0 {
		if t.withoutGas() {
			r.Compute = &record.ComputePhase{SkipReason: record.ComputePhase_NO_GAS}
		}
		return nil
	}
	r.Compute = &record.ComputePhase{}
	err := compute.fill(r.Compute, nil)
	r.Compute.Success = r.Compute.ExitCode == 0 || r.Compute.ExitCode == 1
	return err
}

// withoutGas reports whether the code of an account that has some was not executed, which
// the recording tells by an exit code that is null. Nothing else than want of gas keeps it
// from that.
func (t *transaction) withoutGas() bool {
	return t.Aborted && t.OrigStatus == "active" && string(t.members["compute_exit_code"]) == "null"
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
	r.OutMsgs = slices.CompactFunc(r.OutMsgs, func(a, b *record.Message) bool { return bytes.Equal(a.Hash, b.Hash) })
	return nil
}

func (d *description) fill(r *record.Transaction) (err error) {
	r.Type = word[record.TransactionType](types, d.Type)
	r.Aborted, r.Destroyed, r.CreditFirst, r.IsTock, r.Installed = d.Aborted, d.Destroyed, d.CreditFirst, d.IsTock, d.Installed
	var errs [6]error
	r.Storage, errs[0] = phase[record.StoragePhase](d.Storage, names{"fees_collected": "storage_fees_collected", "fees_due": "storage_fees_due"})
	r.Credit, errs[1] = phase[record.CreditPhase](d.Credit, nil)
	r.Compute, errs[2] = phase[record.ComputePhase](d.Compute, names{"skip_reason": "reason"})
	r.Action, errs[3] = phase[record.ActionPhase](d.Action, nil)
	r.Bounce, errs[4] = phase[record.BouncePhase](d.Bounce, names{"kind": "type"})
	r.Split, errs[5] = phase[record.SplitInfo](d.Split, nil)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if r.Credit != nil {
		if r.Credit.CreditExtra, err = d.Credit.currencies("credit_extra_currencies"); err != nil {
			return err
		}
	}
	if string(d.Compute["skipped"]) == "true" {
		r.Compute = &record.ComputePhase{SkipReason: max(r.Compute.SkipReason, record.ComputePhase_NO_STATE)}
	}
	if r.Action != nil {
		err = d.Action.within("tot_msg_size", r.Action, names{"tot_msg_cells": "cells", "tot_msg_bits": "bits"})
	}
	if r.Bounce != nil && err == nil {
		err = d.Bounce.within("msg_size", r.Bounce, names{"msg_cells": "cells", "msg_bits": "bits"})
	}
	return err
}

package decode

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// hashNormSince is the time before which recorded rows have no hash_norm: the
// public index did not compute it yet.
const hashNormSince = 1745000000

// TestRecordedV3AnswersFollowFromTheRecord renders transactions as the public
// v3 API did and compares every value that concerns a transaction or a message.
func TestRecordedV3AnswersFollowFromTheRecord(t *testing.T) {
	dir := realdata.Path(t)
	files, err := filepath.Glob(filepath.Join(dir, "api_v3_traces/walletkit/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded traces: %v", err)
	}
	count := 0
	for _, file := range files {
		bocs := rebuiltTransactions(t, filepath.Join(dir, "api_v3_rebuilt_txs/walletkit",
			strings.Replace(filepath.Base(file), ".json", ".txs.json", 1)))
		var recorded struct {
			Traces []struct {
				Transactions map[string]map[string]any
			}
		}
		readJSON(t, file, &recorded)
		for _, trace := range recorded.Traces {
			for hash, want := range trace.Transactions {
				tx, err := Transaction(bocs[hash])
				if err != nil {
					t.Fatalf("%s: %v", hash, err)
				}
				got := renderTransaction(tx)
				if tx.Now < hashNormSince {
					delete(got["in_msg"].(object), "hash_norm")
				}
				compareJSON(t, filepath.Base(file)+" "+hash, withoutForeign(want), got)
				count++
			}
		}
	}
	if count != 28 {
		t.Errorf("%d transactions compared, 28 are recorded", count)
	}
}

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func rebuiltTransactions(t testing.TB, file string) map[string][]byte {
	var rebuilt struct {
		Transactions []struct{ BOC, Hash string }
	}
	readJSON(t, file, &rebuilt)
	bocs := map[string][]byte{}
	for _, tx := range rebuilt.Transactions {
		boc, err := base64.StdEncoding.DecodeString(tx.BOC)
		if err != nil {
			t.Fatal(err)
		}
		bocs[tx.Hash] = boc
	}
	return bocs
}

// withoutForeign drops what does not come from the transaction itself.
func withoutForeign(tx map[string]any) map[string]any {
	for _, key := range []string{"account_state_before", "account_state_after", "trace_id", "emulated", "block_ref", "mc_block_seqno"} {
		delete(tx, key)
	}
	messages := tx["out_msgs"].([]any)
	if tx["in_msg"] != nil {
		messages = append(messages, tx["in_msg"])
	}
	for _, m := range messages {
		m := m.(map[string]any)
		delete(m, "decoded_opcode")
		for _, key := range []string{"message_content", "init_state"} {
			if content, ok := m[key].(map[string]any); ok {
				delete(content, "decoded")
			}
		}
	}
	return tx
}

// compareJSON compares after a round trip through JSON.
func compareJSON(t *testing.T, name string, want, got any) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var back any
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	compareValues(t, name, want, back)
}

func compareValues(t *testing.T, path string, want, got any) {
	t.Helper()
	w, ok1 := want.(map[string]any)
	g, ok2 := got.(map[string]any)
	if !ok1 || !ok2 {
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s:\n got %v\nwant %v", path, got, want)
		}
		return
	}
	for key := range g {
		if _, ok := w[key]; !ok {
			t.Errorf("%s: %s is %v, but was not recorded", path, key, g[key])
		}
	}
	for key := range w {
		if _, ok := g[key]; !ok {
			t.Errorf("%s: %s is not there, recorded %v", path, key, w[key])
			continue
		}
		compareValues(t, path+"."+key, w[key], g[key])
	}
}

type object = map[string]any

func dec[T ~uint32 | ~uint64](v T) string { return strconv.FormatUint(uint64(v), 10) }

func hash64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func rawAddress(a []byte) any {
	if len(a) == 0 {
		return nil
	}
	return fmt.Sprintf("%d:%X", schema.Workchain(a), schema.AccountID(a))
}

func currencies(list []*record.ExtraCurrency) object {
	o := object{}
	for _, c := range list {
		o[strconv.Itoa(int(c.Id))] = new(big.Int).SetBytes(c.Amount).String()
	}
	return o
}

// setDec sets an optional amount.
func setDec[T ~uint32 | ~uint64](o object, key string, v *T) {
	if v != nil {
		o[key] = dec(*v)
	}
}

func renderTransaction(t *record.Transaction) object {
	status := []string{"uninit", "frozen", "active", "nonexist"}
	outs := []any{}
	for _, m := range t.OutMsgs {
		outs = append(outs, renderMessage(m))
	}
	o := object{
		"account": rawAddress(t.Account), "hash": hash64(t.Hash), "lt": dec(t.Lt), "now": t.Now,
		"prev_trans_hash": hash64(t.PrevTransHash), "prev_trans_lt": dec(t.PrevTransLt),
		"orig_status": status[t.OrigStatus], "end_status": status[t.EndStatus],
		"total_fees": dec(t.TotalFees), "total_fees_extra_currencies": currencies(t.TotalFeesExtra),
		"description": renderDescription(t), "in_msg": nil, "out_msgs": outs,
	}
	if t.InMsg != nil {
		o["in_msg"] = renderMessage(t.InMsg)
	}
	return o
}

var changeNames = []string{"unchanged", "frozen", "deleted"}

func renderDescription(t *record.Transaction) object {
	types := []string{"ord", "storage", "tick_tock", "split_prepare", "split_install", "merge_prepare", "merge_install"}
	o := object{"type": types[t.Type], "aborted": t.Aborted, "destroyed": t.Destroyed, "credit_first": t.CreditFirst}
	if p := t.Storage; p != nil {
		s := object{"storage_fees_collected": dec(p.FeesCollected), "status_change": changeNames[p.StatusChange]}
		setDec(s, "storage_fees_due", p.FeesDue)
		o["storage_ph"] = s
	}
	if p := t.Credit; p != nil {
		s := object{"credit": dec(p.Credit)}
		setDec(s, "due_fees_collected", p.DueFeesCollected)
		if len(p.CreditExtra) > 0 {
			s["credit_extra_currencies"] = currencies(p.CreditExtra)
		}
		o["credit_ph"] = s
	}
	if t.Compute != nil {
		o["compute_ph"] = renderCompute(t.Compute)
	}
	if t.Action != nil {
		o["action"] = renderAction(t.Action)
	}
	return o
}

func renderCompute(p *record.ComputePhase) object {
	if p.SkipReason != record.ComputePhase_NOT_SKIPPED {
		return object{"skipped": true, "reason": strings.ToLower(p.SkipReason.String())}
	}
	o := object{
		"skipped": false, "success": p.Success, "msg_state_used": p.MsgStateUsed, "account_activated": p.AccountActivated,
		"gas_fees": dec(p.GasFees), "gas_used": dec(p.GasUsed), "gas_limit": dec(p.GasLimit), "mode": p.Mode,
		"exit_code": p.ExitCode, "vm_steps": p.VmSteps,
		"vm_init_state_hash": hash64(p.VmInitStateHash), "vm_final_state_hash": hash64(p.VmFinalStateHash),
	}
	setDec(o, "gas_credit", p.GasCredit)
	if p.ExitArg != nil {
		o["exit_arg"] = *p.ExitArg
	}
	return o
}

func renderAction(p *record.ActionPhase) object {
	o := object{
		"success": p.Success, "valid": p.Valid, "no_funds": p.NoFunds, "status_change": changeNames[p.StatusChange],
		"result_code": p.ResultCode, "tot_actions": p.TotActions, "spec_actions": p.SpecActions,
		"skipped_actions": p.SkippedActions, "msgs_created": p.MsgsCreated, "action_list_hash": hash64(p.ActionListHash),
		"tot_msg_size": object{"cells": dec(p.TotMsgCells), "bits": dec(p.TotMsgBits)},
	}
	setDec(o, "total_fwd_fees", p.TotalFwdFees)
	setDec(o, "total_action_fees", p.TotalActionFees)
	if p.ResultArg != nil {
		o["result_arg"] = *p.ResultArg
	}
	return o
}

func renderMessage(m *record.Message) object {
	o := object{
		"hash": hash64(m.Hash), "source": rawAddress(m.Source), "destination": rawAddress(m.Destination),
		"value": nil, "value_extra_currencies": nil, "fwd_fee": nil, "ihr_fee": nil, "extra_flags": nil,
		"created_lt": nil, "created_at": nil, "ihr_disabled": nil, "bounce": nil, "bounced": nil,
		"import_fee": nil, "opcode": nil, "init_state": nil,
		"message_content": object{"hash": hash64(m.BodyHash), "body": hash64(m.Body)},
	}
	if len(m.InitState) > 0 {
		o["init_state"] = object{"hash": hash64(m.InitStateHash), "body": hash64(m.InitState)}
	}
	if m.Opcode != nil {
		o["opcode"] = fmt.Sprintf("0x%08x", *m.Opcode)
	}
	if m.Kind != record.Message_EXTERNAL_IN {
		o["created_lt"], o["created_at"] = dec(m.CreatedLt), dec(m.CreatedAt)
	}
	switch m.Kind {
	case record.Message_INTERNAL:
		o["value"], o["value_extra_currencies"] = dec(m.Value), currencies(m.ValueExtra)
		o["fwd_fee"], o["ihr_fee"] = dec(m.FwdFee), dec(m.IhrFee)
		o["ihr_disabled"], o["bounce"], o["bounced"] = m.IhrDisabled, m.Bounce, m.Bounced
		setDec(o, "extra_flags", m.ExtraFlags)
	case record.Message_EXTERNAL_IN:
		o["import_fee"] = dec(m.ImportFee)
	}
	if len(m.HashNorm) > 0 {
		o["hash_norm"] = hash64(m.HashNorm)
	}
	return o
}

package table

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

// Fields of a TraceStep whose bytes tables keep.
const (
	fieldStepTrace   protowire.Number = 1
	fieldStepActions protowire.Number = 3
)

// TraceStep is what a bundle did to a trace, as the tables see it.
type TraceStep struct {
	*record.TraceStep
	Raw     string   // of the trace
	actions []string // of the actions
}

// NewTraceStep returns the rows of a step that was read from raw. The trace, its
// transactions and actions must have their hashes and addresses.
func NewTraceStep(s *record.TraceStep, raw []byte) (*TraceStep, error) {
	traces, err := fields(raw, fieldStepTrace)
	if err != nil {
		return nil, err
	}
	if len(traces) != 1 || len(s.Trace.GetId()) != len(noHash) {
		return nil, fmt.Errorf("a step of %d traces, with the id %x", len(traces), s.Trace.GetId())
	}
	for _, h := range [][]byte{s.Trace.ExternalHash, s.Trace.ExternalHashNorm} {
		if len(h) != 0 && len(h) != len(noHash) {
			return nil, fmt.Errorf("trace %x: the message that began it has the hash %x", s.Trace.Id, h)
		}
	}
	step := &TraceStep{TraceStep: s, Raw: text(traces[0])}
	for _, tx := range s.Transactions {
		if len(tx.Account) != schema.AddressSize || len(tx.Hash) != len(noHash) {
			return nil, fmt.Errorf("trace %x: a transaction with account %x and hash %x", s.Trace.Id, tx.Account, tx.Hash)
		}
	}
	actions, err := fields(raw, fieldStepActions)
	if err != nil {
		return nil, err
	}
	if len(actions) != len(s.Actions) {
		return nil, fmt.Errorf("trace %x: %d actions instead of %d", s.Trace.Id, len(actions), len(s.Actions))
	}
	for i, a := range s.Actions {
		if len(a.Id) != len(noHash) {
			return nil, fmt.Errorf("trace %x: an action with the id %x", s.Trace.Id, a.Id)
		}
		step.actions = append(step.actions, text(actions[i]))
	}
	return step, nil
}

// closed reports whether no message of the trace is open.
func (s *TraceStep) closed() bool { return s.Trace.PendingEdges == 0 }

// TraceOf is a transaction with its trace.
type TraceOf struct {
	*record.TraceTransaction
	Step *TraceStep
}

// Each hands out the transactions that belong to the trace since the bundle.
func (s *TraceStep) Each(add func(*TraceOf)) {
	for _, tx := range s.TraceStep.Transactions {
		add(&TraceOf{tx, s})
	}
}

// TransactionTraces says to which trace a transaction belongs.
var TransactionTraces = declare(Table{Name: "transaction_traces", Doc: "the trace that a transaction belongs to, in the key order of `transactions`",
	Key: []string{"workchain", "account_prefix", "lt", "account_rest"}, Newest: "mc_seqno"}, nil, []column[*TraceOf]{
	col("workchain", Int32, "workchain of the transaction's account", func(t *TraceOf) int32 { return schema.Workchain(t.Account) }),
	col("account_prefix", Prefix, "first 8 bytes of the account id", func(t *TraceOf) uint64 { return schema.Prefix(schema.AccountID(t.Account)) }),
	col("lt", UInt64, "logical time of the transaction", func(t *TraceOf) uint64 { return t.Lt }),
	col("account_rest", UInt64, "exclusive or of the other three numbers of 8 bytes of it", func(t *TraceOf) uint64 { return schema.Rest(schema.AccountID(t.Account)) }),
	col("mc_seqno", UInt32, "masterchain block with which it became known that it belongs there", func(t *TraceOf) uint32 { return t.Step.Trace.McSeqnoEnd }),
	col("later", UInt32, "how many masterchain blocks later than the one that commits the transaction that was", func(t *TraceOf) uint32 { return t.Step.Trace.McSeqnoEnd - t.McSeqno }),
	alias("transaction_mc_seqno", UInt32, "masterchain block that commits the transaction", func(t *TraceOf) uint32 { return t.McSeqno }),
	col("trace_prefix", Prefix, "first 8 bytes of the trace's id, by which `traces` is ordered", func(t *TraceOf) uint64 { return schema.Prefix(t.Step.Trace.Id) }),
	col("trace_rest", String, "the other 24 bytes of it and the 32 of the hash of the message that began the trace, zeros for none; empty for the first transaction of the trace, which tells both itself, and of a broken trace", (*TraceOf).rest),
})

// rest is what will always be said of the transaction: a broken trace may turn out to be
// a part of another one.
func (t *TraceOf) rest() string {
	if trace := t.Step.Trace; trace.State != record.TraceState_TRACE_BROKEN && !bytes.Equal(t.Hash, trace.Id) {
		return string(stored.PackTraceRest(trace))
	}
	return ""
}

// TraceRow is a trace under its own id, or under that of one that became a part of it.
type TraceRow struct {
	*TraceStep
	ID       []byte
	Replaced bool
}

// Rows hands out the trace, under each id that it is found by.
func (s *TraceStep) Rows(add func(*TraceRow)) {
	add(&TraceRow{s, s.Trace.Id, false})
	for _, id := range s.Trace.Replaces {
		if len(id) == len(noHash) {
			add(&TraceRow{s, id, true})
		}
	}
}

// Traces has what every trace is.
var Traces = declare(Table{Name: "traces", Doc: "a trace: the tree of transactions that one message or one call of the chain itself led to",
	Key: []string{"trace_prefix", "id_next"}, Newest: "mc_seqno"}, nil, []column[*TraceRow]{
	col("trace_prefix", Prefix, "first 8 bytes of the id", func(t *TraceRow) uint64 { return schema.Prefix(t.ID) }),
	col("id_next", Prefix, "next 8 bytes of it", func(t *TraceRow) uint64 { return schema.Prefix(t.ID[8:]) }),
	alias("id", Hash, "hash of the first transaction", func(t *TraceRow) []byte { return t.ID }),
	col("mc_seqno", UInt32, "masterchain block of the newest transaction", func(t *TraceRow) uint32 { return t.Trace.McSeqnoEnd }),
	alias("mc_seqno_start", UInt32, "masterchain block of the first transaction", func(t *TraceRow) uint32 { return t.Trace.McSeqnoStart }),
	alias("start_lt", UInt64, "logical time of the first transaction", func(t *TraceRow) uint64 { return t.Trace.StartLt }),
	col("end_lt", UInt64, "the greatest logical time of its transactions", func(t *TraceRow) uint64 { return t.Trace.EndLt }),
	alias("start_utime", UInt32, "time of the first transaction", func(t *TraceRow) uint32 { return t.Trace.StartUtime }),
	col("end_utime", UInt32, "the latest time of its transactions", func(t *TraceRow) uint32 { return t.Trace.EndUtime }),
	col("state", Enum8(0, "complete", "pending", "broken"), "pending: messages of it were not received yet; broken: the index begins in its midst", func(t *TraceRow) int8 { return int8(t.Trace.State) }),
	col("nodes", UInt32, "number of transactions", func(t *TraceRow) uint32 { return t.Trace.Nodes }),
	alias("edges", UInt32, "number of messages that were received, or go to outside", func(t *TraceRow) uint32 { return t.Trace.Edges }),
	alias("pending_edges", UInt32, "number of messages that were not received yet", func(t *TraceRow) uint32 { return t.Trace.PendingEdges }),
	col("replaced", Bool, "whether id is that of a broken trace that turned out to be a part of the one that all other columns tell of: count rows without it", func(t *TraceRow) bool { return t.Replaced }),
	alias("external_hash", Hash, "hash of the message that began it; zeros for none", func(t *TraceRow) []byte { return hashOrZero(t.Trace.ExternalHash) }),
	alias("external_hash_norm", Hash, "the same, normalized (TEP-467), where it is another one; else zeros", func(t *TraceRow) []byte { return hashOrZero(t.Trace.ExternalHashNorm) }),
	recordCol("the protobuf record Trace, in the form of schema/stored", func(t *TraceRow) string {
		return packed(stored.PackTrace(nil, t.Trace, t.ID))
	}),
})

// ListedTrace is a trace in one of its lists.
type ListedTrace struct {
	*TraceStep
	List uint64
}

// Lists hands out the trace in every list that it belongs to: in none while it has open
// messages, so that it does not move.
func (s *TraceStep) Lists(add func(*ListedTrace)) {
	if !s.closed() {
		return
	}
	add(&ListedTrace{s, schema.AllTraces.Number(nil)})
	for _, a := range s.Accounts {
		add(&ListedTrace{s, schema.TracesOf.Number(a)})
	}
}

// TracesByList has the lists of traces.
var TracesByList = declare(Table{Name: "traces_by_list", Internal: true, Doc: "a trace without open messages in one list that it is in, for look-ups of the API",
	Key: []string{"list", "end_lt", "trace_prefix"}, Newest: "mc_seqno"}, nil, []column[*ListedTrace]{
	col("list", Prefix, "number of the list, made of its kind and an account", func(l *ListedTrace) uint64 { return l.List }),
	col("end_lt", UInt64, "the greatest logical time of its transactions", func(l *ListedTrace) uint64 { return l.Trace.EndLt }),
	col("trace_prefix", Prefix, "first 8 bytes of the id", func(l *ListedTrace) uint64 { return schema.Prefix(l.Trace.Id) }),
	col("end_utime", UInt32, "the latest time of its transactions", func(l *ListedTrace) uint32 { return l.Trace.EndUtime }),
	col("mc_seqno", UInt32, "masterchain block of the newest transaction", func(l *ListedTrace) uint32 { return l.Trace.McSeqnoEnd }),
})

// ActionRow is an action of a trace.
type ActionRow struct {
	*record.Action
	Step *TraceStep
	Raw  string
	// Number is that of the action in the trace by the lts of ends and by ids, TimeNumber
	// by the times of ends and by ids.
	Number, TimeNumber uint32
}

// EachAction hands out the actions.
func (s *TraceStep) EachAction(add func(*ActionRow)) {
	rows := make([]*ActionRow, len(s.TraceStep.Actions))
	for i, a := range s.TraceStep.Actions {
		rows[i] = &ActionRow{Action: a, Step: s, Raw: s.actions[i]}
	}
	NumberActions(rows, 0)
	for _, a := range rows {
		add(a)
	}
}

// NumberActions numbers all actions of a trace, from a number on, and puts them in that
// order.
func NumberActions(list []*ActionRow, first uint32) {
	slices.SortFunc(list, func(a, b *ActionRow) int {
		return cmp.Or(cmp.Compare(a.EndUtime, b.EndUtime), bytes.Compare(a.Id, b.Id))
	})
	for i, a := range list {
		a.TimeNumber = first + uint32(i)
	}
	slices.SortFunc(list, func(a, b *ActionRow) int {
		return cmp.Or(cmp.Compare(a.EndLt, b.EndLt), bytes.Compare(a.Id, b.Id))
	})
	for i, a := range list {
		a.Number = first + uint32(i)
	}
}

// Stored is the stored form of the action.
func (a *ActionRow) Stored() string {
	parties := stored.Parties{a.account(actionSource), a.account(actionDestination), a.item()}
	return packed(stored.PackAction(nil, a.Action, a.Step.Trace.EndLt, parties))
}

// The details that columns are made of: the first of the names that an action has. What
// is behind a dot is a detail of an object.
var (
	actionSource      = []string{"source", "sender", "old_owner", "owner", "stake_holder", "bidder", "subscriber"}
	actionDestination = []string{"destination", "receiver", "new_owner", "beneficiary", "auction"}
	actionAsset       = []string{"asset", "asset_in", "asset_1", "source_asset"}
	actionAssetOut    = []string{"asset_out", "asset_2"}
	actionItem        = []string{"nft_item", "nft_address", "payout_nft"}
	actionCollection  = []string{"nft_collection"}
	actionPool        = []string{"pool"}
	actionAmount      = []string{"amount", "value", "dex_incoming_transfer.amount", "amount_1", "price", "full_price"}
	actionAmountOut   = []string{"dex_outgoing_transfer.amount", "amount_2", "tokens_minted", "tokens_burnt"}
	actionProtocol    = []string{"dex", "provider", "marketplace"}
	actionComment     = []string{"comment"}
)

// ofName are types of actions of a DNS name, which call its NFT item their asset.
var ofName = []string{"renew_dns", "delete_dns", "change_dns"}

// item is the id of the NFT item; zeros for none.
func (a *ActionRow) item() []byte {
	if slices.Contains(ofName, a.Type) {
		return a.account(actionAsset)
	}
	return a.account(actionItem)
}

// asset is the id of the jetton master; zeros for none.
func (a *ActionRow) asset() []byte {
	if slices.Contains(ofName, a.Type) {
		return accountID(nil)
	}
	return a.account(actionAsset)
}

// detail finds the first of some details that is not null.
func (a *ActionRow) detail(names []string) *record.ActionDetail {
	for _, name := range names {
		if d := detailNamed(a.Details, name); d != nil {
			return d
		}
	}
	return nil
}

func detailNamed(list []*record.ActionDetail, name string) *record.ActionDetail {
	for _, d := range list {
		if d.Name == name {
			return d
		}
		if inner, ok := cutPrefix(name, d.Name); ok {
			return detailNamed(d.GetObject().GetDetails(), inner)
		}
	}
	return nil
}

// cutPrefix returns what is behind a name and a dot.
func cutPrefix(path, name string) (string, bool) {
	if len(path) > len(name)+1 && path[:len(name)] == name && path[len(name)] == '.' {
		return path[len(name)+1:], true
	}
	return "", false
}

// account is the account id that is the first of some details; zeros for none.
func (a *ActionRow) account(names []string) []byte { return accountID(a.detail(names).GetBytes()) }

func addressDetail(name, doc string, names []string) column[*ActionRow] {
	return col(name, Hash, doc, func(a *ActionRow) []byte { return a.account(names) })
}

// partyDetail is an addressDetail that the record begins with.
func partyDetail(name, doc string, names []string) column[*ActionRow] {
	return alias(name, Hash, doc, func(a *ActionRow) []byte { return a.account(names) })
}

func amountDetail(name, doc string, names []string) column[*ActionRow] {
	return col(name, UInt256, doc, func(a *ActionRow) *big.Int {
		switch v := a.detail(names).GetValue().(type) {
		case *record.ActionDetail_Bytes:
			if fitsNumber(v.Bytes) {
				return number(v.Bytes)
			}
		case *record.ActionDetail_Unsigned:
			return new(big.Int).SetUint64(v.Unsigned)
		}
		return new(big.Int)
	})
}

func (a *ActionRow) word(names []string) string { return a.detail(names).GetText() }

// Revision is the column of which the greatest value counts in tables of actions.
const Revision = "revision"

// revised are the columns of rows that are not always what the pipeline made of them:
// actions that were recognised again.
func revised[R any]() []column[R] {
	return []column[R]{
		aside[R](Revision, UInt32, "0 as the pipeline made it; greater where the action was recognised again (`tonscribe reclassify`)"),
		aside[R]("gone", UInt8, "1 where there is no such action any more: `FINAL` leaves it out"),
	}
}

// Actions has what parts of traces were.
var Actions = declare(Table{Name: "actions", Doc: "an action: what a part of a trace was, a transfer, a swap, a stake; parts of other actions are rows, too (count those without ancestors)",
	Key: []string{"trace_prefix", "trace_end_lt", "number"}, Newest: Revision}, nil, []column[*ActionRow]{
	col("trace_prefix", Prefix, "first 8 bytes of the id of its trace, by which `traces` is ordered", func(a *ActionRow) uint64 { return schema.Prefix(a.Step.Trace.Id) }),
	col("trace_end_lt", UInt64, "the greatest logical time of the trace", func(a *ActionRow) uint64 { return a.Step.Trace.EndLt }),
	col("number", UInt32, "number of the action in its trace, in the order of end_lt and id", func(a *ActionRow) uint32 { return a.Number }),
	col("id_prefix", ShortPrefix, "first 4 bytes of its id", func(a *ActionRow) uint32 { return schema.ShortPrefix(a.Id) }),
	alias("id", Hash, "hash that it is named by", func(a *ActionRow) []byte { return a.Id }),
	col("mc_seqno", UInt32, "masterchain block with which its trace ended", func(a *ActionRow) uint32 { return a.Step.Trace.McSeqnoEnd }),
	alias("start_lt", UInt64, "the smallest logical time of its transactions", func(a *ActionRow) uint64 { return a.StartLt }),
	alias("end_lt", UInt64, "the greatest logical time of its transactions", func(a *ActionRow) uint64 { return a.EndLt }),
	alias("start_utime", UInt32, "the earliest time of its transactions", func(a *ActionRow) uint32 { return a.StartUtime }),
	col("end_utime", UInt32, "the latest time of its transactions", func(a *ActionRow) uint32 { return a.EndUtime }),
	col("type", Word, "what it was", func(a *ActionRow) string { return a.Type }),
	col("success", Bool, "whether its effect took place", func(a *ActionRow) bool { return a.Success }),
	col("ancestors", Strings, "types of the actions that it is a part of, outermost first", func(a *ActionRow) []string { return a.Ancestors }),
	col("protocol", Word, "the exchange, the provider or the marketplace, where it names one", func(a *ActionRow) string { return a.word(actionProtocol) }),
	partyDetail("source", "account id of whoever it came from; zeros for none", actionSource),
	partyDetail("destination", "account id of whom it went to; zeros for none", actionDestination),
	col("asset", Hash, "account id of the jetton master, of what came in where it was exchanged; zeros for toncoins, or none", (*ActionRow).asset),
	addressDetail("asset_out", "the same of what went out, or of the second one of a pair", actionAssetOut),
	alias("nft_item", Hash, "account id of the NFT item; zeros for none", (*ActionRow).item),
	addressDetail("nft_collection", "account id of its collection; zeros for none", actionCollection),
	addressDetail("pool", "account id of the pool; zeros for none", actionPool),
	amountDetail("amount", "amount or price, in nanotons or the asset's units", actionAmount),
	amountDetail("amount_out", "amount of asset_out, or of what was minted or burnt for it", actionAmountOut),
	col("comment", String, "comment; base64 where it is encrypted", func(a *ActionRow) string { return a.word(actionComment) }),
	recordCol("the protobuf record Action, in the form of schema/stored", (*ActionRow).Stored),
}, revised[*ActionRow]())

// ListedAction is an action in one of its lists.
type ListedAction struct {
	*ActionRow
	List uint64
}

// Lists hands out the action in every list that it belongs to.
func (a *ActionRow) Lists(add func(*ListedAction)) {
	add(&ListedAction{a, schema.AllActions.Number(nil)})
	for _, account := range a.Accounts {
		add(&ListedAction{a, schema.ActionsOf.Number(account)})
	}
}

// ActionsByList has the lists of actions.
var ActionsByList = declare(Table{Name: "actions_by_list", Internal: true, Doc: "an action in one list that it is in, for look-ups of the API",
	Key: []string{"list", "trace_end_lt", "trace_prefix", "number"}, Newest: Revision}, nil, []column[*ListedAction]{
	col("list", Prefix, "number of the list, made of its kind and an account", func(l *ListedAction) uint64 { return l.List }),
	col("trace_end_lt", UInt64, "the greatest logical time of the trace", func(l *ListedAction) uint64 { return l.Step.Trace.EndLt }),
	col("trace_prefix", Prefix, "first 8 bytes of the id of its trace", func(l *ListedAction) uint64 { return schema.Prefix(l.Step.Trace.Id) }),
	col("number", UInt32, "number of the action in its trace, in the order of end_lt and id", func(l *ListedAction) uint32 { return l.Number }),
	col("time_number", UInt32, "the same in the order of end_utime and id", func(l *ListedAction) uint32 { return l.TimeNumber }),
	col("trace_end_utime", UInt32, "the latest time of the trace", func(l *ListedAction) uint32 { return l.Step.Trace.EndUtime }),
	col("type", ShortPrefix, "number of its type (schema.ActionType)", func(l *ListedAction) uint32 { return schema.ActionType(l.Type) }),
	col("since", UInt8, "first version of supported_action_types that has its type, 255 for none", func(l *ListedAction) uint8 { return uint8(l.Since) }),
	col("until", UInt8, "last version that has none of its ancestors' types, 255 for all", func(l *ListedAction) uint8 { return uint8(l.Until) }),
	col("mc_seqno", UInt32, "masterchain block with which its trace ended", func(l *ListedAction) uint32 { return l.Step.Trace.McSeqnoEnd }),
}, revised[*ListedAction]())

// packed is a stored form. NewTraceStep has seen that there is what it needs.
func packed(form []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(form)
}

func (t *TraceOf) source() string   { return t.Step.Raw }
func (s *TraceStep) source() string { return s.Raw }
func (a *ActionRow) source() string { return a.Raw }

package traced

import (
	"bytes"
	"fmt"
	"testing"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/plan"
	"tonscribe/schema/record"
	"tonscribe/test/support/plantest"
)

func TestTheStatementsOfEveryListOfTracesAndActions(t *testing.T) {
	var g plantest.Golden
	seqno := int32(70)
	v := &head.View{Watermark: 77, Tables: 77}
	latest := ActionTypes{Supported: action.Expand([]string{"latest"}), Version: action.VersionOf([]string{"latest"})}
	only := latest
	only.Only = map[*action.Type]bool{action.TypeNamed("ton_transfer"): true, action.TypeNamed("nft_mint"): true}
	some := ActionTypes{Supported: action.Expand([]string{"dns"}), Version: action.VersionOf([]string{"dns"}), Without: map[*action.Type]bool{}}
	for typ := range some.Supported {
		if typ.Name != "tick_tock" && typ.Name != "renew_dns" {
			some.Without[typ] = true
		}
	}
	spans := []list.Span{list.Everything, {From: 100, To: 200, Given: true}}
	for account := range 2 {
		for _, r := range [][2]int{{0, 0}, {1, 0}, {0, 1}} {
			for _, mc := range []*int32{nil, &seqno} {
				for _, desc := range []bool{true, false} {
					label := fmt.Sprintf("account %d utime %d lts %d bundle %t descending %t", account, r[0], r[1], mc != nil, desc)
					f := &Filter{Account: plantest.Account(account), McSeqno: mc, Utime: spans[r[0]], Lts: spans[r[1]]}
					g.Plan("traces "+label, tracePlan(v, f, desc), plan.Row{150, 9000, 77})
					a := &ActionFilter{Account: plantest.Account(account), McSeqno: mc, Utime: spans[r[0]], Lts: spans[r[1]], Types: latest}
					g.Plan("actions of latest "+label, actionPlan(v, a, desc), plan.Row{150, 9000, 77, 5, 3})
				}
			}
		}
		for _, types := range []ActionTypes{only, some, {Supported: map[*action.Type]bool{}, Version: action.NoVersion}} {
			f := &ActionFilter{Account: plantest.Account(account), Utime: list.Everything, Lts: list.Everything, Types: types}
			g.Plan(fmt.Sprintf("actions of some types account %d", account), actionPlan(v, f, true), plan.Row{150, 9000, 77, 5, 3})
		}
	}
	g.Check(t, "traces")
}

func hashOf(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }

func internal(n byte) *record.Message {
	return &record.Message{Kind: record.Message_INTERNAL, Hash: hashOf(n)}
}

// A trace whose newest state is not shown yet has the counters of what is.
func TestATraceIsAsItsVisibleTransactionsShowIt(t *testing.T) {
	root := &record.Transaction{Hash: hashOf(1), McSeqno: 70, Lt: 10, Now: 100, InMsg: &record.Message{Kind: record.Message_EXTERNAL_IN, Hash: hashOf(20)},
		OutMsgs: []*record.Message{internal(21), internal(22), {Kind: record.Message_EXTERNAL_OUT, Hash: hashOf(23)}}}
	child := &record.Transaction{Hash: hashOf(2), McSeqno: 71, Lt: 12, Now: 101, InMsg: internal(21)}
	ahead := &record.Trace{Id: hashOf(1), McSeqnoStart: 70, McSeqnoEnd: 79, StartLt: 10, StartUtime: 100, EndLt: 15, EndUtime: 105, Nodes: 3, Edges: 4}
	want := &record.Trace{Id: hashOf(1), McSeqnoStart: 70, McSeqnoEnd: 71, StartLt: 10, StartUtime: 100, EndLt: 12, EndUtime: 101, Nodes: 2, Edges: 3, PendingEdges: 1, State: record.TraceState_TRACE_PENDING}
	if have := AsOf(&head.View{Watermark: 77}, ahead, []*record.Transaction{root, child}); !have.EqualVT(want) {
		t.Errorf("the trace is\n%v, want\n%v", have, want)
	}
	if have := AsOf(&head.View{Watermark: 79}, ahead, []*record.Transaction{root, child}); have != ahead {
		t.Errorf("a trace that the view shows is changed to %v", have)
	}
}

func TestOfTracesWhoseIDsBeginAlikeOnlyWhatTheRootLedToCounts(t *testing.T) {
	root := &record.Transaction{Hash: hashOf(1), OutMsgs: []*record.Message{internal(21)}}
	child := &record.Transaction{Hash: hashOf(2), InMsg: internal(21), OutMsgs: []*record.Message{internal(22)}}
	grandchild := &record.Transaction{Hash: hashOf(3), InMsg: internal(22)}
	stranger := &record.Transaction{Hash: hashOf(4), InMsg: internal(29)}
	if of := trace.LedTo(Hash(hashOf(1)), []*record.Transaction{grandchild, stranger, child, root}); len(of) != 3 || of[0] != root || of[1] != child || of[2] != grandchild {
		t.Errorf("the root led to %v", of)
	}
}

func TestATraceThatBecameAPartOfAnotherOneIsThat(t *testing.T) {
	whole := &record.Trace{Id: hashOf(9), StartLt: 1, EndLt: 50}
	found := foundTraces{
		newest:   map[Hash]*record.Trace{Hash(hashOf(1)): {Id: hashOf(1), StartLt: 20, EndLt: 30}, Hash(hashOf(9)): whole},
		replaced: map[Hash]Hash{Hash(hashOf(1)): Hash(hashOf(5)), Hash(hashOf(5)): Hash(hashOf(9))},
	}
	if found.of(Hash(hashOf(1))) != whole || found.index().at(0x0101010101010101, 25, 25) != whole || len(found.whole()) != 1 {
		t.Errorf("trace 1 is %v, listed are %v", found.of(Hash(hashOf(1))), found.whole())
	}
	circle := foundTraces{replaced: map[Hash]Hash{Hash(hashOf(1)): Hash(hashOf(2)), Hash(hashOf(2)): Hash(hashOf(1))}}
	if circle.of(Hash(hashOf(1))) != nil {
		t.Error("a circle leads somewhere")
	}
}

// A trace that turned out to be a part of another one, with a bundle that is not shown yet.
func TestATransactionIsOfTheTraceThatTheViewShows(t *testing.T) {
	v := &head.View{Watermark: 77}
	key := head.TracedKey{Lt: 10}
	before, after := head.Traced{TracedKey: key, McSeqno: 70, Prefix: 1}, head.Traced{TracedKey: key, McSeqno: 78, Prefix: 2}
	for name, rows := range map[string][]head.Traced{"in order": {before, after}, "not in order": {after, before}} {
		of := Rows{}
		if of.take(v, rows); of[key] != before {
			t.Errorf("%s: the row is %v, want %v", name, of[key], before)
		}
	}
	of := Rows{}
	if of.take(v, []head.Traced{after}); of[key] != after {
		t.Errorf("a later row that is the only one is %v, want %v", of[key], after)
	}
	row := func(lt, prefix, since uint64) plan.Row {
		return plan.Row{plan.Signed(0), 5, lt, 70, prefix, since}
	}
	members := traceMembers{1: {row(10, 1, 70)}, 2: {row(10, 2, 78), row(11, 2, 78)}}
	members.dropMoved(v)
	if len(members[1]) != 1 || len(members[2]) != 1 || members[2][0][memberTransaction+2] != 11 {
		t.Errorf("the members are %v, want lt 10 of trace 1 and lt 11 of trace 2", members)
	}
}

package action_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/schema/record"
	"tonscribe/test/support/costtest"
)

// everything takes every account for everything at once.
type everything struct{}

func (everything) Contract(a []byte) *record.Contract {
	other := account(a[4] + 1)
	return &record.Contract{
		Account:       a,
		JettonWallet:  &record.JettonWallet{Owner: other, Master: master},
		JettonMaster:  &record.JettonMaster{},
		NftItem:       &record.NFTItem{Index: []byte{1}, Collection: dnsRoot, Owner: other},
		NftCollection: &record.NFTCollection{},
		Sale:          &record.Sale{Item: other, Owner: alice},
		Auction:       &record.Auction{Item: other, Owner: alice},
		Telemint:      &record.Telemint{},
		Multisig:      &record.Multisig{},
		MultisigOrder: &record.MultisigOrder{Multisig: other, Signers: [][]byte{alice, bob}},
		Vesting:       &record.Vesting{},
		NominatorPool: &record.NominatorPool{},
		DedustPool:    &record.DedustPool{Assets: [][]byte{nil, master}},
		StonfiPool:    &record.StonfiPool{Version: 2},
	}
}

func (everything) AccountData([]byte) []byte {
	return boc(cell.BeginCell().MustStoreUInt(1, 64).EndCell())
}

// some takes some accounts for nothing.
type some struct{ everything }

func (s some) Contract(a []byte) *record.Contract {
	if a[4]%2 == 0 {
		return nil
	}
	return s.everything.Contract(a)
}

var words = []string{"finish", "stop", "cancel", "d", "w", "approve", "has been outbid by another user"}

// randomTree is a trace of nodes transactions whose messages have the opcodes that
// patterns ask for.
func randomTree(r *rand.Rand, nodes int) []*record.Transaction {
	opcodes := action.Opcodes()
	bodies := make([]*cell.Builder, 0, 64)
	for range cap(bodies) {
		bodies = append(bodies, randomBody(r, opcodes, 3))
	}
	p := &player{}
	list := []*record.Transaction{p.transaction(account(1), &record.Message{Kind: record.Message_EXTERNAL_IN, Destination: account(1)}, &step{}, nil)}
	for len(list) < nodes {
		parent := list[max(0, len(list)-1-r.IntN(min(len(list), 6)))]
		s := step{to: account(byte(r.IntN(12))), body: bodies[r.IntN(len(bodies))], value: r.Uint64N(1000), aborted: r.IntN(8) == 0,
			deployed: r.IntN(10) == 0, bounce: r.IntN(2) == 0, bounced: r.IntN(12) == 0}
		if r.IntN(6) == 0 {
			s.to = nil
		}
		m := p.message(parent.Account, &s)
		parent.OutMsgs = append(parent.OutMsgs, m)
		if s.to != nil {
			list = append(list, p.transaction(s.to, m, &s, nil))
		}
	}
	return list
}

// randomBody begins with an opcode of patterns and goes on with what could be
// fields.
func randomBody(r *rand.Rand, opcodes []uint32, depth int) *cell.Builder {
	if r.IntN(6) == 0 {
		return comment(words[r.IntN(len(words))])
	}
	return randomFields(r, word(uint64(opcodes[r.IntN(len(opcodes))])), opcodes, depth)
}

// randomFields goes on with what could be fields.
func randomFields(r *rand.Rand, b *cell.Builder, opcodes []uint32, depth int) *cell.Builder {
	for range r.IntN(7) {
		switch r.IntN(7) {
		case 0, 1:
			b.MustStoreUInt(r.Uint64N(5), 64)
		case 2:
			b.MustStoreCoins(r.Uint64N(1000))
		case 3:
			b.MustStoreAddr(friendly(account(byte(r.IntN(12)))))
		case 4:
			b.MustStoreBoolBit(r.IntN(2) == 0)
		case 5:
			b.MustStoreSlice(account(byte(r.IntN(12)))[4:], 256)
		case 6:
			if depth > 0 && b.RefsUsed() < 4 {
				b.MustStoreRef(randomBody(r, opcodes, depth-1).EndCell())
			}
		}
		if b.BitsUsed() > 700 {
			break
		}
	}
	return b
}

// maxTime is what a trace of some hundred transactions may cost to be recognised twice,
// with and without facts, and made records of.
const maxTime = 50 * time.Millisecond

func FuzzRecognisers(f *testing.F) {
	for i := range uint64(8) {
		f.Add(binary.BigEndian.AppendUint64(nil, i), uint16(40))
	}
	f.Fuzz(func(t *testing.T, seed []byte, nodes uint16) {
		var s [32]byte
		copy(s[:], seed)
		transactions := randomTree(rand.New(rand.NewChaCha8(s)), 1+int(nodes)%600)
		tree, err := trace.NewTree(transactions)
		if err != nil {
			t.Fatal(err)
		}
		for _, facts := range []action.Facts{everything{}, some{}, action.NoFacts{}} {
			costtest.Within(t, maxTime, costtest.MaxBytes, func() { checkActions(t, tree, facts) })
		}
	})
}

// checkActions recognises a trace and holds what came out against what must hold
// of every trace.
func checkActions(t *testing.T, tree *trace.Tree, facts action.Facts) {
	list, err := action.Classify(tree, facts)
	if err != nil {
		t.Error(err)
	}
	known := map[string]bool{}
	for _, n := range tree.Nodes {
		known[string(n.Tx.Hash)] = true
	}
	seen := map[string]bool{}
	for _, a := range list {
		if len(a.Details) != len(a.Type.Details) {
			t.Errorf("%s has %d details, want %d", a.Type.Name, len(a.Details), len(a.Type.Details))
		}
		for _, hash := range a.Transactions {
			if !known[string(hash)] {
				t.Errorf("%s has a transaction that is not in the trace", a.Type.Name)
			}
		}
		if a.StartLt > a.EndLt || len(a.Transactions) == 0 {
			t.Errorf("%s has %d transactions from %d to %d", a.Type.Name, len(a.Transactions), a.StartLt, a.EndLt)
		}
		if seen[string(a.ID[:])] {
			t.Errorf("two actions have the id %x, one is %s", a.ID, a.Type.Name)
		}
		seen[string(a.ID[:])] = true
	}
	checkRecords(t, list)
	covered := map[string]bool{}
	for _, a := range list {
		for _, hash := range a.Transactions {
			covered[string(hash)] = true
		}
	}
	for _, n := range tree.Nodes {
		if m := n.Tx.InMsg; m != nil && m.Kind == record.Message_INTERNAL && !covered[string(n.Tx.Hash)] {
			t.Errorf("no action has the transaction %x", n.Tx.Hash)
		}
	}
	again, _ := action.Classify(tree, facts)
	if len(again) != len(list) {
		t.Fatalf("%d actions, then %d", len(list), len(again))
	}
	for i := range list {
		if list[i].ID != again[i].ID || list[i].Success != again[i].Success {
			t.Errorf("action %d is another one the second time", i)
		}
	}
}

// checkRecords holds actions against what records of them give.
func checkRecords(t *testing.T, list []*action.Action) {
	for _, a := range list {
		raw, err := a.Record().MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		r := &record.Action{}
		if err := r.UnmarshalVT(raw); err != nil {
			t.Fatal(err)
		}
		got, err := action.FromRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		if have, want := object(got.Type.Details, got.Details), object(a.Type.Details, a.Details); !equal(want, have) {
			t.Errorf("%s has the details %v from its record, want %v", a.Type.Name, have, want)
		}
		if got.ID != a.ID || summary(got) != summary(a) || len(got.Accounts) != len(a.Accounts) || len(got.Transactions) != len(a.Transactions) ||
			a.Parent() != nil && got.Parent().ID != a.Parent().ID {
			t.Errorf("%s is another one from its record", a.Type.Name)
		}
	}
}

func TestALargeTraceIsRecognisedInBoundedTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for what, transactions := range map[string][]*record.Transaction{
		"random":        randomTree(r, trace.MaxNodes),
		"one sender":    wide(trace.MaxNodes, transferOrder(1, bob)),
		"one of bids":   wide(trace.MaxNodes, word(0x557cea20)),
		"one long line": long(trace.MaxNodes, transferOrder(1, bob)),
	} {
		tree, err := trace.NewTree(transactions)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(what, func(t *testing.T) {
			costtest.Within(t, 2*time.Second, 1<<30, func() {
				list, err := action.Classify(tree, everything{})
				if err != nil || len(list) == 0 {
					t.Errorf("%d actions, %v", len(list), err)
				}
			})
		})
	}
}

func wide(nodes int, body *cell.Builder) []*record.Transaction {
	steps := make([]step, nodes-2)
	for i := range steps {
		steps[i] = step{to: bobWallet, body: body}
	}
	return play(alice, step{to: item, then: steps})
}

func long(nodes int, body *cell.Builder) []*record.Transaction {
	p := &player{}
	list := []*record.Transaction{p.transaction(alice, &record.Message{Kind: record.Message_EXTERNAL_IN, Destination: alice}, &step{}, nil)}
	for len(list) < nodes {
		s := step{to: bobWallet, body: body}
		m := p.message(list[len(list)-1].Account, &s)
		list[len(list)-1].OutMsgs = append(list[len(list)-1].OutMsgs, m)
		list = append(list, p.transaction(s.to, m, &s, nil))
	}
	return list
}

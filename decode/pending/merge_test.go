package pending

import (
	"bytes"
	"errors"
	"maps"
	"math/big"
	"slices"
	"testing"

	"tonscribe/decode/trace"
	"tonscribe/devnet/contracts"
	"tonscribe/schema/record"
)

// comes is how a cascade of the same message comes in other blocks than were foreseen.
func comes(t *testing.T, h *household, order contracts.Message) (foreseen, came []*record.Transaction) {
	t.Helper()
	message := h.order(t, order)
	m := moment(t, nil)
	one, err := Run(t.Context(), h, m, message, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m.LT, m.Now = m.LT+7*ltAlign, m.Now+9
	two, err := Run(t.Context(), h, m, message, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range two.Transactions {
		tx.McSeqno = 77
	}
	return one.Transactions, two.Transactions
}

// checkTree checks that a merged trace is one tree, without contradictions.
func checkTree(t testing.TB, m *Merged) {
	t.Helper()
	if len(m.Tree.Nodes) != len(m.Tree.Transactions) || int(m.Trace.Nodes) != len(m.Tree.Nodes) {
		t.Fatalf("%d nodes, %d transactions, %d are told", len(m.Tree.Nodes), len(m.Tree.Transactions), m.Trace.Nodes)
	}
	at := map[*trace.Node]int{}
	for i, n := range m.Tree.Nodes {
		at[n] = i
		if n.Tx != m.Tree.Transactions[i] || m.Foreseen[n.Tx] != (n.Tx.McSeqno == 0) {
			t.Errorf("node %d is of transaction %x, foreseen %v", i, n.Tx.Hash, m.Foreseen[n.Tx])
		}
		if i == 0 {
			continue
		}
		parent, is := at[n.Parent]
		if !is || i > 0 && parent >= i {
			t.Fatalf("node %d comes before who sent its message", i)
		}
		found := false
		for _, out := range n.Parent.Tx.OutMsgs {
			found = found || bytes.Equal(out.Hash, n.Tx.InMsg.Hash)
		}
		if !found {
			t.Errorf("node %d received %x, which its parent did not send", i, n.Tx.InMsg.Hash)
		}
		if m.Foreseen[n.Parent.Tx] && !m.Foreseen[n.Tx] {
			t.Errorf("node %d is of a block, and its parent is not", i)
		}
	}
}

func TestWhatComesTakesThePlaceOfWhatWasForeseenStepByStep(t *testing.T) {
	h := newHousehold(t)
	foreseen, came := comes(t, h, h.transfer(account(9), 70))
	for n := range len(came) + 1 {
		m := Merge(foreseen, came[:n])
		checkTree(t, m)
		if len(m.Tree.Nodes) != len(foreseen) || len(m.Foreseen) != len(foreseen)-n {
			t.Errorf("with %d of %d: %d nodes, %d foreseen", n, len(came), len(m.Tree.Nodes), len(m.Foreseen))
		}
		for _, tx := range came[:n] {
			found := false
			for _, have := range m.Tree.Transactions {
				found = found || have == tx
			}
			if !found {
				t.Errorf("with %d: transaction %x is missing", n, tx.Hash)
			}
		}
		if got := m.Trace; !bytes.Equal(got.ExternalHash, foreseen[0].InMsg.Hash) || (n == 0) != (len(got.Id) == 0) || n > 0 && !bytes.Equal(got.Id, came[0].Hash) ||
			got.State != record.TraceState_TRACE_PENDING || int(got.PendingEdges) != len(foreseen)-n || got.Edges != 5 {
			t.Errorf("with %d: trace %v", n, got)
		}
	}
}

// Where something else comes than was foreseen, what follows it is not foreseen either.
func TestWhatComesOtherwiseHasNothingOfWhatWasForeseen(t *testing.T) {
	h := newHousehold(t)
	foreseen, _ := comes(t, h, h.transfer(account(9), 70))
	root := foreseen[0].CloneVT()
	root.Hash, root.McSeqno = bytes.Repeat([]byte{1}, 32), 5
	root.OutMsgs[0].Hash, root.OutMsgs[0].Destination = bytes.Repeat([]byte{2}, 32), foreseen[0].Account
	m := Merge(foreseen, []*record.Transaction{root})
	checkTree(t, m)
	if len(m.Tree.Nodes) != 1 || m.Trace.PendingEdges != 1 {
		t.Errorf("%d nodes, %d messages are open; want one, and one", len(m.Tree.Nodes), m.Trace.PendingEdges)
	}
	// Of another message nothing is taken.
	other := foreseen[0].CloneVT()
	other.McSeqno, other.InMsg.Hash, other.InMsg.HashNorm = 5, bytes.Repeat([]byte{3}, 32), nil
	if m := Merge(foreseen, []*record.Transaction{other}); len(m.Foreseen) != len(foreseen) {
		t.Errorf("%d of %d are foreseen, want all", len(m.Foreseen), len(foreseen))
	}
}

// A message in another wrapping has the same normalised hash.
func TestAMessageIsKnownByItsNormalisedHash(t *testing.T) {
	h := newHousehold(t)
	foreseen, came := comes(t, h, h.transfer(account(9), 70))
	normalised := normal(foreseen[0].InMsg)
	in := came[0].InMsg.CloneVT()
	in.Hash, in.HashNorm = bytes.Repeat([]byte{4}, 32), normalised
	came[0] = came[0].CloneVT()
	came[0].InMsg = in
	m := Merge(foreseen, came[:1])
	checkTree(t, m)
	if len(m.Foreseen) != len(foreseen)-1 || !bytes.Equal(m.Trace.ExternalHash, in.Hash) || !bytes.Equal(m.Trace.ExternalHashNorm, normalised) {
		t.Errorf("%d foreseen, trace %v", len(m.Foreseen), m.Trace)
	}
}

// Whoever looks at a trace sees its branches in one order, before blocks have it and after.
func TestWhoReceivesFirstComesFirstAsInATraceOfBlocks(t *testing.T) {
	h := newHousehold(t)
	m := moment(t, nil)
	m.Shards = []Shard{{0, 1 << 62}, {0, 3 << 62}}
	give := func(b byte) contracts.Message {
		return contracts.Message{To: account(b), Value: big.NewInt(1_000_000_000), Mode: contracts.ModePayFees}
	}
	message := h.order(t, give(0x10), give(0x90), give(0x20), give(0xa0)) // half of them are in another shard than the wallet
	foreseen, err := Run(t.Context(), h, m, message, DefaultLimits())
	if err != nil || foreseen.Cut != nil {
		t.Fatal(err, foreseen.Cut)
	}
	m.LT, m.Now = m.LT+7*ltAlign, m.Now+9
	came, err := Run(t.Context(), h, m, message, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := trace.NewTree(came.Transactions)
	if err != nil {
		t.Fatal(err)
	}
	receivers := func(of *trace.Tree) (list []string) {
		for _, n := range of.Root.Children {
			list = append(list, string(n.Tx.Account))
		}
		return list
	}
	want := receivers(whole)
	if sent := came.Transactions[0].OutMsgs; string(sent[0].Destination) == want[0] && string(sent[1].Destination) == want[1] {
		t.Fatal("messages are received in the order in which they are sent: the test proves nothing")
	}
	for _, tx := range came.Transactions {
		tx.McSeqno = 77
	}
	for n := range len(came.Transactions) + 1 {
		merged := Merge(foreseen.Transactions, came.Transactions[:n])
		checkTree(t, merged)
		if got := receivers(merged.Tree); !slices.Equal(got, want) {
			t.Errorf("with %d of %d: %x receive, want %x", n, len(came.Transactions), got, want)
		}
	}
	// What blocks have comes before what they do not have, however late it is.
	last := came.Transactions[len(came.Transactions)-1]
	if got := receivers(Merge(foreseen.Transactions, []*record.Transaction{came.Transactions[0], last}).Tree); got[0] != string(last.Account) {
		t.Errorf("with the last one in a block: %x receive, want %x first", got, last.Account)
	}
}

// An account may take the same message again, and what it did before is still going on.
func TestOfAMessageThatWasTakenTwiceTheFirstTraceIsShownHoweverItIsRead(t *testing.T) {
	h := newHousehold(t)
	foreseen, first := comes(t, h, h.transfer(account(9), 70))
	second := first[0].CloneVT()
	second.Hash, second.Lt, second.OutMsgs = bytes.Repeat([]byte{6}, 32), first[len(first)-1].Lt+1, nil
	for what, came := range map[string][]*record.Transaction{
		"first": {first[0], first[1], second}, "second": {second, first[1], first[0]},
	} {
		m := Merge(foreseen, came)
		checkTree(t, m)
		if !bytes.Equal(m.Trace.Id, first[0].Hash) || len(m.Tree.Nodes) != len(foreseen) {
			t.Errorf("where the %s one is read first: trace %x of %d transactions, want %x of %d", what, m.Trace.Id, len(m.Tree.Nodes), first[0].Hash, len(foreseen))
		}
	}
}

// What was recorded of a trace that was on its way is the trace again.
func TestARecordingIsTheTraceThatWasMerged(t *testing.T) {
	h := newHousehold(t)
	foreseen, came := comes(t, h, h.transfer(account(9), 70))
	stranger := foreseen[0].CloneVT()
	stranger.InMsg.Hash, stranger.Hash, stranger.Lt, stranger.OutMsgs = bytes.Repeat([]byte{3}, 32), bytes.Repeat([]byte{4}, 32), 1<<60, nil
	for n := range len(came) + 1 {
		m := Merge(foreseen, came[:n])
		r := &trace.Recorded{Transactions: append(slices.Clone(m.Tree.Transactions), stranger), Foreseen: maps.Clone(m.Foreseen)}
		r.Foreseen[stranger] = true
		slices.SortStableFunc(r.Transactions, trace.Order)
		got, err := Recorded(r)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Trace.EqualVT(m.Trace) || !maps.Equal(got.Foreseen, m.Foreseen) || len(got.Tree.Nodes) != len(m.Tree.Nodes) ||
			!slices.Equal(got.Tree.Transactions, append(m.Tree.Transactions, stranger)) || !slices.Equal(got.Tree.Missing, []*record.Transaction{stranger}) {
			t.Errorf("with %d of %d: trace %v, %d foreseen, %d missing; want %v, %d, 1", n, len(came), got.Trace, len(got.Foreseen), len(got.Tree.Missing), m.Trace, len(m.Foreseen))
		}
	}
}

// A file may say what no chain does.
func TestARecordingThatGoesInCirclesEnds(t *testing.T) {
	h := newHousehold(t)
	circle, _ := comes(t, h, h.transfer(account(9), 70))
	last := circle[len(circle)-1]
	last.OutMsgs = append(last.OutMsgs, circle[0].OutMsgs[0])
	all := map[*record.Transaction]bool{}
	for _, tx := range circle {
		all[tx] = true
	}
	if m, err := Recorded(&trace.Recorded{Transactions: circle, Foreseen: all}); err != nil || len(m.Tree.Nodes) != len(circle) {
		t.Errorf("%v, want %d nodes", err, len(circle))
	}
	last.OutMsgs[len(last.OutMsgs)-1] = circle[0].InMsg
	if _, err := Recorded(&trace.Recorded{Transactions: circle, Foreseen: all}); !errors.Is(err, trace.ErrOrder) {
		t.Errorf("without a first transaction: %v, want %v", err, trace.ErrOrder)
	}
}

package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"tonscribe/internal/stage"
	"tonscribe/schema/record"
)

func accountOf(name string) []byte {
	id := sha256.Sum256([]byte(name))
	return append([]byte{0, 0, 0, 0}, id[:]...)
}

func hashOf(name string) []byte {
	h := sha256.Sum256([]byte("hash of " + name))
	return h[:]
}

// sends is a transaction that received one message and sent others, all named.
// A name that begins with ext is of a message from outside, with log of one to
// outside, with sys of one of the chain; an empty one stands for none.
func sends(name string, lt uint64, in string, out ...string) *record.Transaction {
	tx := &record.Transaction{Account: accountOf("account of " + name), Lt: lt, Hash: hashOf("tx " + name), Now: uint32(1000 + lt)}
	if in != "" {
		tx.InMsg = messageOf(in)
	}
	for i, o := range out {
		m := messageOf(o)
		m.CreatedLt = lt + 1 + uint64(i)
		tx.OutMsgs = append(tx.OutMsgs, m)
	}
	return tx
}

func messageOf(name string) *record.Message {
	m := &record.Message{Hash: hashOf("message " + name), Source: accountOf("sender"), Destination: accountOf("receiver")}
	switch (name + "   ")[:3] {
	case "ext":
		m.Kind, m.Source, m.HashNorm = record.Message_EXTERNAL_IN, nil, hashOf("norm "+name)
	case "log":
		m.Kind, m.Destination = record.Message_EXTERNAL_OUT, nil
	case "sys":
		m.Source = nobody[:]
	}
	return m
}

// summary is a trace in a line.
func summary(t Assembled) string {
	state := []string{"complete", "pending", "broken"}[t.State]
	return fmt.Sprintf("%s nodes %d edges %d pending %d lt %d-%d seqno %d-%d new %d all %d",
		state, t.Nodes, t.Edges, t.PendingEdges, t.StartLt, t.EndLt, t.McSeqnoStart, t.McSeqnoEnd, len(t.New), len(t.All))
}

func TestTraceAcrossBundlesIsPendingUntilItsLastMessageIsReceived(t *testing.T) {
	var store Memory
	a := NewAssembler(&store)
	for _, step := range []struct {
		seqno uint32
		txs   []*record.Transaction
		want  []string
	}{
		{1, []*record.Transaction{sends("root", 10, "ext1", "a", "b", "log1")}, []string{
			"pending nodes 1 edges 2 pending 2 lt 10-10 seqno 1-1 new 1 all 0"}},
		{2, []*record.Transaction{sends("of b", 21, "b"), sends("of a", 20, "a", "c")}, []string{
			"pending nodes 3 edges 4 pending 1 lt 10-21 seqno 1-2 new 2 all 0"}},
		{3, []*record.Transaction{sends("tick", 30, "")}, []string{
			"complete nodes 1 edges 0 pending 0 lt 30-30 seqno 3-3 new 1 all 1"}},
		{4, []*record.Transaction{sends("of c", 40, "c"), sends("fees", 41, "sys1", "d"), sends("of d", 43, "d")}, []string{
			"complete nodes 4 edges 5 pending 0 lt 10-40 seqno 1-4 new 1 all 4",
			"complete nodes 2 edges 2 pending 0 lt 41-43 seqno 4-4 new 2 all 2"}},
	} {
		list, err := a.Bundle(step.seqno, step.txs)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tr := range list {
			got = append(got, summary(tr))
			if tr.All != nil && !slices.IsSortedFunc(tr.All, Order) {
				t.Error("transactions of a trace are not in order")
			}
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("bundle %d:\n%q, want\n%q", step.seqno, got, step.want)
		}
	}
	if n := store.Len(); n != 0 {
		t.Errorf("%d values are left in the store after everything was received", n)
	}
}

func TestHashesOfATraceAreThoseOfItsRootsMessage(t *testing.T) {
	for _, c := range []struct{ in, raw, norm string }{
		{"ext1", "message ext1", "norm ext1"}, {"sys1", "message sys1", ""}, {"", "", ""},
	} {
		list, err := NewAssembler(new(Memory)).Bundle(1, []*record.Transaction{sends("root", 1, c.in)})
		if err != nil {
			t.Fatal(err)
		}
		want := func(name string) string {
			if name == "" {
				return ""
			}
			return string(hashOf(name))
		}
		if got := list[0]; string(got.Id) != string(hashOf("tx root")) || string(got.ExternalHash) != want(c.raw) || string(got.ExternalHashNorm) != want(c.norm) {
			t.Errorf("root with message %q: id %x, hashes %x and %x", c.in, got.Id, got.ExternalHash, got.ExternalHashNorm)
		}
	}
}

func TestWhatComesBackFromTheAddressOfTheChainItselfBelongsToTheTraceThatSentIt(t *testing.T) {
	root, back := sends("root", 10, "ext1", "a"), sends("back", 30, "sys2")
	back.InMsg.Bounced = true
	nowhere := sends("nowhere", 20, "a")
	nowhere.OutMsgs = []*record.Message{back.InMsg}
	if trace := Begun(back); trace != nil {
		t.Errorf("it begins the trace %x", trace.Id)
	}
	for _, c := range []struct {
		list []*record.Transaction
		want string
	}{
		{[]*record.Transaction{root, nowhere, back}, "complete nodes 3 edges 3 pending 0 lt 10-30 seqno 1-1 new 3 all 3"},
		{[]*record.Transaction{back}, "broken nodes 1 edges 1 pending 0 lt 30-30 seqno 1-1 new 1 all 1"},
	} {
		list, err := NewAssembler(new(Memory)).Bundle(1, c.list)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 1 || summary(list[0]) != c.want {
			t.Errorf("%d traces, the first %s, want %s", len(list), summary(list[0]), c.want)
		}
	}
}

func TestWhatAContractAtTheAddressOfTheChainItselfSendsBelongsToItsTrace(t *testing.T) {
	root, child := sends("root", 10, "ext1", "sys1"), sends("child", 20, "sys1")
	root.Account = nobody[:]
	if trace := Begun(child); trace != nil {
		t.Errorf("its receiver says that it begins the trace %x", trace.Id)
	}
	list, err := NewAssembler(new(Memory)).Bundle(1, []*record.Transaction{root, child})
	if err != nil {
		t.Fatal(err)
	}
	if want := "complete nodes 2 edges 2 pending 0 lt 10-20 seqno 1-1 new 2 all 2"; len(list) != 1 || summary(list[0]) != want {
		t.Errorf("%d traces, the first %s, want %s", len(list), summary(list[0]), want)
	}
}

func TestReceiverWithoutSenderBeginsABrokenTraceThatItsSenderBringsHome(t *testing.T) {
	var store Memory
	a := NewAssembler(&store)
	bundle := func(seqno uint32, txs ...*record.Transaction) []Assembled {
		t.Helper()
		list, err := a.Bundle(seqno, txs)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	check := func(list []Assembled, want ...string) {
		t.Helper()
		var got []string
		for _, tr := range list {
			got = append(got, summary(tr))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	check(bundle(10, sends("of a", 100, "a", "b", "c")), "broken nodes 1 edges 1 pending 2 lt 100-100 seqno 10-10 new 1 all 0")
	check(bundle(11, sends("of b", 110, "b", "log1")), "broken nodes 2 edges 3 pending 1 lt 100-110 seqno 10-11 new 1 all 0")
	home := bundle(5, sends("root", 50, "ext1", "a"))
	check(home, "pending nodes 3 edges 4 pending 1 lt 50-110 seqno 5-11 new 1 all 0")
	if r := home[0].Replaces; len(r) != 1 || string(r[0]) != string(hashOf("tx of a")) {
		t.Errorf("replaces %x, want the trace that the orphan began", r)
	}
	last := bundle(12, sends("of c", 120, "c"))
	check(last, "complete nodes 4 edges 5 pending 0 lt 50-120 seqno 5-12 new 1 all 4")
	if len(last[0].Replaces) > 0 {
		t.Errorf("what was replaced is told again: %x", last[0].Replaces)
	}
	if n := store.Len(); n != 0 {
		t.Errorf("%d values are left in the store", n)
	}
}

func TestTransactionThatComesLateHasItsPlaceByLt(t *testing.T) {
	a := NewAssembler(new(Memory))
	for seqno, txs := range [][]*record.Transaction{
		{sends("root", 10, "ext1", "a", "b")}, {sends("of a", 30, "a")}, {sends("of b", 20, "b")}, // shards go on apart
	} {
		list, err := a.Bundle(uint32(seqno+1), txs)
		if err != nil {
			t.Fatal(err)
		}
		if seqno < 2 {
			continue
		}
		if got := summary(list[0]); got != "complete nodes 3 edges 3 pending 0 lt 10-30 seqno 1-3 new 1 all 3" {
			t.Errorf("%s", got)
		}
		if !slices.IsSortedFunc(list[0].All, Order) {
			t.Error("transactions of the trace are not in order")
		}
	}
}

func TestOrphansThatWereBroughtHomeToOrphansGoAlong(t *testing.T) {
	a := NewAssembler(new(Memory))
	var last []Assembled
	for seqno, txs := range [][]*record.Transaction{
		{sends("of y", 200, "y")},
		{sends("of x", 100, "x", "z")},
		{sends("of z", 140, "z", "y"), sends("root", 150, "ext1", "x")},
	} {
		list, err := a.Bundle(uint32(seqno+1), txs)
		if err != nil {
			t.Fatal(err)
		}
		last = list
	}
	if len(last) != 1 || summary(last[0]) != "complete nodes 4 edges 4 pending 0 lt 150-200 seqno 3-3 new 2 all 4" {
		t.Fatalf("%d traces, first %s", len(last), summary(last[0]))
	}
	if r := last[0].Replaces; len(r) != 2 || string(r[0]) != string(hashOf("tx of x")) || string(r[1]) != string(hashOf("tx of y")) {
		t.Errorf("replaces %x, want both", r)
	}
}

func TestTooLargeATraceIsNotBroughtHome(t *testing.T) {
	var store Memory
	a := NewAssembler(&store)
	var txs []*record.Transaction
	for n := range MaxNodes {
		txs = append(txs, sends(fmt.Sprint(n), uint64(n+10), fmt.Sprintf("m%d", n), fmt.Sprintf("m%d", n+1)))
	}
	if _, err := a.Bundle(2, txs); err != nil {
		t.Fatal(err)
	}
	list, err := a.Bundle(1, []*record.Transaction{sends("root", 1, "ext", "m0")})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || summary(list[0]) != "pending nodes 1 edges 1 pending 1 lt 1-1 seqno 1-1 new 1 all 0" || len(list[0].Replaces) > 0 {
		t.Errorf("%d traces, first %s", len(list), summary(list[0]))
	}
}

func TestOrphanOfTheSameBundleIsBroughtHome(t *testing.T) {
	// The sender has a later lt than the receiver: no chain does that, and the
	// assembler must not care.
	var store Memory
	list, err := NewAssembler(&store).Bundle(1, []*record.Transaction{
		sends("of a", 100, "a", "b"), sends("of b", 101, "b", "c"), sends("root", 200, "ext1", "a"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || summary(list[0]) != "pending nodes 3 edges 3 pending 1 lt 200-200 seqno 1-1 new 3 all 0" {
		t.Errorf("%d traces, first %s", len(list), summary(list[0]))
	}
	if edge, _ := store.Get(keyEdge, hashOf("message c")); string(edge) != string(hashOf("tx root")) {
		t.Errorf("the open message belongs to %x", edge)
	}
}

func TestOfATooLargeTraceTheAccountsAreKeptAndNoTransactions(t *testing.T) {
	const size, bundles = MaxNodes/2 + 1, 4
	var store Memory
	a := NewAssembler(&store)
	var last Assembled
	for i := range bundles {
		var txs []*record.Transaction
		for n := i * size; n < (i+1)*size; n++ {
			in, out := fmt.Sprintf("m%d", n), []string{fmt.Sprintf("m%d", n+1)}
			if n == 0 {
				in = "ext"
			}
			if n == bundles*size-1 {
				out = nil
			}
			tx := sends(fmt.Sprint(n), uint64(n+1), in, out...)
			tx.Account = accountOf(fmt.Sprint(i, n%10))
			txs = append(txs, tx)
		}
		list, err := a.Bundle(uint32(i+1), txs)
		if err != nil {
			t.Fatal(err)
		}
		last = list[0]
		if i < 1 || i == bundles-1 {
			continue
		}
		if last.State != record.TraceState_TRACE_PENDING || int(last.Nodes) != (i+1)*size || last.PendingEdges != 1 || last.Earlier != nil {
			t.Errorf("%s", summary(last))
		}
		if n, want := store.Len(), 2+10*(i+1); n != want { // the open message, the trace and its accounts
			t.Errorf("%d values in the store, want %d", n, want)
		}
	}
	if last.State != record.TraceState_TRACE_COMPLETE || last.All != nil || len(last.Earlier) != 10*(bundles-1) || store.Len() != 0 {
		t.Errorf("%s, %d accounts of earlier bundles, %d values are left in the store", summary(last), len(last.Earlier), store.Len())
	}
}

func TestOfATraceWithoutEndBoundedAccountsAreKept(t *testing.T) {
	var store Memory
	a := NewAssembler(&store)
	bundle := func(seqno uint32, tx *record.Transaction) Assembled {
		list, err := a.Bundle(seqno, []*record.Transaction{tx})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d traces, %v", len(list), err)
		}
		return list[0]
	}
	grown := bundle(1, sends("root", 10, "ext", "m1")).Trace
	grown.Nodes = maxListed
	raw, err := grown.MarshalVT()
	if err == nil {
		err = store.Set(raw, keyTrace, grown.Id)
	}
	if err != nil {
		t.Fatal(err)
	}
	bundle(2, sends("more", 20, "m1", "m2"))
	if n := store.Len(); n != 3 { // the open message, the trace and the account of its first transaction
		t.Errorf("%d values in the store, want 3", n)
	}
	if last := bundle(3, sends("last", 30, "m2")); len(last.Earlier) != 1 || store.Len() != 0 {
		t.Errorf("%d accounts of earlier bundles and %d values in the store, want 1 and none", len(last.Earlier), store.Len())
	}
}

// forest makes transactions of random traces in the order of a chain.
func forest(r *rand.Rand, traces, size int) (txs []*record.Transaction) {
	lt := uint64(1)
	for i := range traces {
		var open []string
		for n := range 1 + r.IntN(size) {
			name := fmt.Sprintf("%d.%d", i, n)
			in := "ext" + name
			if n > 0 {
				if len(open) == 0 {
					break
				}
				k := r.IntN(len(open))
				in = open[k]
				open = slices.Delete(open, k, k+1)
			}
			var out []string
			for j := range r.IntN(4) {
				m := fmt.Sprintf("m%s.%d", name, j)
				if j == 3 {
					m = "log" + m
				} else {
					open = append(open, m)
				}
				out = append(out, m)
			}
			txs = append(txs, sends(name, lt, in, out...))
			lt += uint64(1 + r.IntN(5))
		}
	}
	return txs
}

func TestTracesDoNotDependOnHowBundlesCutThem(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		txs := forest(r, 20, 12)
		want := finals(t, new(Memory), [][]*record.Transaction{txs})
		store := new(Memory)
		var bundles [][]*record.Transaction
		for rest := txs; len(rest) > 0; {
			n := min(1+r.IntN(9), len(rest))
			bundles, rest = append(bundles, rest[:n]), rest[n:]
		}
		got := finals(t, store, bundles)
		if len(got) != len(want) {
			t.Fatalf("%d traces, want %d", len(got), len(want))
		}
		for id, s := range want {
			if got[id] != s {
				t.Fatalf("trace %x is %q, want %q", id, got[id], s)
			}
		}
	}
}

// finals is what the bundles' traces are in the end, without what depends on bundles.
func finals(t *testing.T, store Store, bundles [][]*record.Transaction) map[string]string {
	t.Helper()
	got := map[string]string{}
	for i, txs := range bundles {
		// A new one for every bundle: nothing may be remembered beside the store.
		list, err := NewAssembler(store).Bundle(uint32(i+1), txs)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range list {
			var order []byte
			for _, tx := range tr.All {
				order = binary.BigEndian.AppendUint64(order, tx.Lt)
			}
			if tr.All != nil && len(tr.All) != int(tr.Nodes) {
				t.Fatalf("%d transactions of %d", len(tr.All), tr.Nodes)
			}
			got[string(tr.Id)] = fmt.Sprintf("%d %d %d %d %d-%d %x", tr.State, tr.Nodes, tr.Edges, tr.PendingEdges, tr.StartLt, tr.EndLt, order)
		}
	}
	return got
}

// kept is the store of a stage that ends after every bundle.
type kept struct {
	t   *testing.T
	dir string
}

func (k kept) bundle(seqno uint32, txs []*record.Transaction) []Assembled {
	k.t.Helper()
	store, err := stage.OpenStore(stage.StoreOptions{Dir: k.dir, CacheBytes: 1 << 20, Version: 1, Log: zerolog.Nop()})
	if err != nil {
		k.t.Fatal(err)
	}
	list, err := NewAssembler(store).Bundle(seqno, txs)
	if err := errors.Join(err, store.Mark(seqno), store.Commit(), store.Close()); err != nil {
		k.t.Fatal(err)
	}
	return list
}

func TestStageGoesOnFromItsStoreAfterARestart(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	txs := forest(r, 12, 10)
	// One that was sent before the index began, and its sender, which a back-fill
	// brings last.
	late := sends("late", 1, "extlate", "lost")
	txs = append(txs, sends("lost one", 1_000_000, "lost", "lost2"), sends("lost two", 1_000_001, "lost2"))
	memory := NewAssembler(new(Memory))
	stages := kept{t, t.TempDir()}
	for seqno := uint32(1); len(txs) > 0; seqno++ {
		n := min(1+r.IntN(6), len(txs))
		bundle := txs[:n]
		if txs = txs[n:]; len(txs) == 0 && late != nil {
			txs, late = []*record.Transaction{late}, nil
		}
		want, err := memory.Bundle(seqno, bundle)
		if err != nil {
			t.Fatal(err)
		}
		got := stages.bundle(seqno, bundle)
		if len(got) != len(want) {
			t.Fatalf("bundle %d: %d traces, want %d", seqno, len(got), len(want))
		}
		for i := range got {
			if !got[i].Trace.EqualVT(want[i].Trace) || !slices.EqualFunc(got[i].All, want[i].All, func(a, b *record.Transaction) bool { return a.EqualVT(b) }) {
				t.Errorf("bundle %d: %s, want %s", seqno, summary(got[i]), summary(want[i]))
			}
			if len(txs) == 0 && (len(got[i].Replaces) != 1 || len(got[i].All) != 3) {
				t.Errorf("the late sender's trace is %s and replaces %d", summary(got[i]), len(got[i].Replaces))
			}
		}
	}
}

// A message may be large, and a trace has many.
func TestATraceOfTooManyBytesIsNotPutTogether(t *testing.T) {
	const bundles, bytes = 100, 1 << 20
	for _, size := range []int{bytes, 10} {
		var store Memory
		a := NewAssembler(&store)
		var last []Assembled
		for n := range bundles {
			in, out := fmt.Sprintf("m%d", n), []string{fmt.Sprintf("m%d", n+1)}
			if n == 0 {
				in = "ext"
			}
			if n == bundles-1 {
				out = nil
			}
			tx := sends(fmt.Sprint(n), uint64(n+1), in, out...)
			tx.Account = slices.Clone(tx.Account)
			tx.Account[35] = byte(n)
			tx.InMsg.Body = make([]byte, size)
			var err error
			if last, err = a.Bundle(uint32(n+1), []*record.Transaction{tx}); err != nil {
				t.Fatal(err)
			}
		}
		held := 0
		for _, tx := range last[0].All {
			held += tx.SizeVT()
		}
		if held > MaxBytes+2*bytes || size*bundles < MaxBytes && len(last[0].All) != bundles || last[0].Unclassified != (size*bundles > MaxBytes) || last[0].State != record.TraceState_TRACE_COMPLETE || store.Len() != 0 {
			t.Errorf("%d bytes of each: %s, %d bytes are put together, %d values are left in the store", size, summary(last[0]), held, store.Len())
		}
		// Who has a transaction in it is known all the same.
		accounts := slices.Clone(last[0].Earlier)
		for _, tx := range slices.Concat(last[0].All, last[0].New) {
			accounts = append(accounts, tx.Account)
		}
		slices.SortFunc(accounts, slices.Compare)
		if got := len(slices.CompactFunc(accounts, slices.Equal)); got != bundles {
			t.Errorf("%d bytes of each: %d accounts are told of, want %d", size, got, bundles)
		}
	}
}

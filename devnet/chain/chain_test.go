package chain

import (
	"bytes"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// run makes steps of a second each and audits them.
func run(t testing.TB, c *Chain, a *audit, w *town, steps, payments int) (last *Bundle) {
	t.Helper()
	for range steps {
		b, err := c.Step(c.master.state.genUtime+1, w.payments(payments))
		must(t, err)
		for _, r := range b.Refused {
			t.Fatalf("refused: %s", r.Reason)
		}
		a.bundle(b)
		last = b
	}
	return last
}

func TestPaymentsReachTheirWalletsInOtherShards(t *testing.T) {
	w := newTown(t, 40)
	c, a := begin(t, Options{Seed: 1, GenUtime: genUtime, Accounts: w.accounts()})
	run(t, c, a, w, 30, 10)
	run(t, c, a, w, 4, 0)
	if len(a.sent) != 0 {
		t.Fatalf("%d messages never arrived", len(a.sent))
	}
	if a.splits != 2 || len(c.shards) != 2 {
		t.Fatalf("%d blocks after a split, %d shards; want 2 and 2", a.splits, len(c.shards))
	}
	for _, s := range c.shards {
		if s.state.queue.root != nil {
			t.Errorf("queue of shard %s is not empty", s.state.shard)
		}
	}
	t.Log(a.count, "transactions")
}

func TestSplitsAndMergesUnderLoadLoseNothing(t *testing.T) {
	w := newTown(t, 60)
	c, a := begin(t, Options{Seed: 1, GenUtime: genUtime, Accounts: w.accounts(), SplitDelay: 1})
	run(t, c, a, w, 8, 20)
	must(t, c.Split(0x4000000000000000))
	run(t, c, a, w, 8, 20)
	must(t, c.Split(0xc000000000000000))
	must(t, c.Split(0x2000000000000000))
	run(t, c, a, w, 8, 20)
	if len(c.shards) != 5 {
		t.Fatalf("%d shards, want 5", len(c.shards))
	}
	must(t, c.Merge(0x1000000000000000))
	run(t, c, a, w, 8, 20)
	must(t, c.Merge(0x6000000000000000))
	must(t, c.Merge(0xe000000000000000))
	run(t, c, a, w, 8, 20)
	run(t, c, a, w, 5, 0)
	if len(c.shards) != 2 || a.merges != 3 || a.splits != 8 {
		t.Fatalf("%d shards, %d merges, %d blocks after splits; want 2, 3, 8", len(c.shards), a.merges, a.splits)
	}
	if len(a.sent) != 0 {
		t.Fatalf("%d messages never arrived", len(a.sent))
	}
	for _, s := range c.shards {
		if s.state.queue.root != nil {
			t.Errorf("queue of shard %s is not empty", s.state.shard)
		}
	}
	t.Log(a.count, "transactions")
}

// script is a chain with everything that happens to shards, over n steps.
func script(t testing.TB, c *Chain, w *town, from, to int, each func(*Bundle)) {
	t.Helper()
	for i := from; i < to; i++ {
		switch i {
		case 6:
			must(t, c.Split(0x4000000000000000))
		case 16:
			must(t, c.Merge(0x2000000000000000))
		}
		b, err := c.Step(genUtime+1+uint32(i), w.payments(12))
		must(t, err)
		each(b)
	}
}

func narrow(w *town) Options {
	// a few transactions a block: queues grow
	return Options{Seed: 7, GenUtime: genUtime, Accounts: w.accounts(), SplitDelay: 1, MaxBlockGas: 15_000}
}

func TestTheSameCallsGiveTheSameBytes(t *testing.T) {
	var runs [2][]*Bundle
	for i := range runs {
		w := newTown(t, 30)
		c, err := New(narrow(w))
		must(t, err)
		script(t, c, w, 0, 25, func(b *Bundle) { runs[i] = append(runs[i], b) })
	}
	for i, b := range runs[0] {
		sameBundle(t, b, runs[1][i])
	}
}

func sameBundle(t testing.TB, got, want *Bundle) {
	t.Helper()
	if len(got.Shards) != len(want.Shards) {
		t.Fatalf("bundle %d: %d shard blocks, want %d", want.Master.ID.SeqNo, len(got.Shards), len(want.Shards))
	}
	for i, b := range append([]*Block{got.Master}, got.Shards...) {
		if other := append([]*Block{want.Master}, want.Shards...)[i]; !bytes.Equal(b.Data, other.Data) {
			t.Fatalf("bundle %d: block %v, want %v", want.Master.ID.SeqNo, b.ID, other.ID)
		}
	}
}

func TestBlocksThatAreFullLeaveTheRestToTheNext(t *testing.T) {
	w := newTown(t, 30)
	c, a := begin(t, narrow(w))
	waiting, queued := 0, 0
	script(t, c, w, 0, 25, func(b *Bundle) {
		a.bundle(b)
		if len(b.Refused) != 0 {
			t.Fatalf("refused: %s", b.Refused[0].Reason)
		}
		waiting = max(waiting, len(c.Pending()))
		queued = max(queued, len(a.sent))
	})
	if waiting == 0 || queued < 10 {
		t.Fatalf("at most %d external messages waited and %d internal ones were on their way: the blocks were not full", waiting, queued)
	}
	for range 400 {
		if len(c.Pending()) == 0 && len(a.sent) == 0 {
			break
		}
		run(t, c, a, w, 1, 0)
	}
	if len(c.Pending()) != 0 || len(a.sent) != 0 {
		t.Fatalf("%d external messages wait for ever, %d internal ones", len(c.Pending()), len(a.sent))
	}
	if a.merges != 1 || a.splits != 4 {
		t.Fatalf("%d merges, %d blocks after splits; want 1 and 4", a.merges, a.splits)
	}
	t.Log(waiting, "waited,", queued, "were on their way,", a.count, "transactions")
}

func TestAResumedChainGoesOnAsIfItHadNeverStopped(t *testing.T) {
	var want []*Bundle
	w := newTown(t, 30)
	c, err := New(narrow(w))
	must(t, err)
	script(t, c, w, 0, 28, func(b *Bundle) { want = append(want, b) })
	for stop := 0; stop < 25; stop += 2 {
		w := newTown(t, 30)
		first, err := New(narrow(w))
		must(t, err)
		var earlier []*Block
		script(t, first, w, 0, stop, func(b *Bundle) { earlier = append(earlier, b.Master) })
		head := headOf(first, earlier)
		second, err := Resume(narrow(w), head)
		must(t, err)
		second.pending = append(second.pending, first.pending...) // what waits is the caller's
		at := stop
		script(t, second, w, stop, 28, func(b *Bundle) { sameBundle(t, b, want[at]); at++ })
	}
}

// headOf is a head that has been stored: its states are read from bytes.
func headOf(c *Chain, masters []*Block) Head {
	stored := func(b *Block) *Block {
		x := *b
		x.State, _ = cell.FromBOC(b.State.ToBOC())
		return &x
	}
	master, shards := c.Head()
	h := Head{Master: stored(master)}
	for _, s := range shards {
		h.Shards = append(h.Shards, stored(s))
	}
	for _, b := range masters {
		if b.ID.SeqNo >= OldestReference(h) && b.ID.SeqNo < master.ID.SeqNo {
			h.Earlier = append(h.Earlier, &Block{ID: b.ID, Root: b.Root})
		}
	}
	return h
}

func TestShardsCanMakeManyBlocksForOneOfTheMasterchain(t *testing.T) {
	w := newTown(t, 30)
	o := narrow(w)
	o.ShardBlocks = 3
	c, a := begin(t, o)
	script(t, c, w, 0, 25, func(b *Bundle) {
		a.bundle(b)
		if n := b.Master.ID.SeqNo; n == 10 && len(b.Shards) != 9 {
			t.Fatalf("bundle %d has %d shard blocks, want 9", n, len(b.Shards))
		}
	})
	run(t, c, a, w, 20, 0)
	if len(a.sent) != 0 || a.merges != 1 {
		t.Fatalf("%d messages never arrived, %d merges", len(a.sent), a.merges)
	}
}

// wide are options and messages that make more than the blocks can take: each
// external message makes four internal ones.
func wide(w *town) Options {
	return Options{Seed: 3, GenUtime: genUtime, Accounts: w.accounts(), SplitDelay: 1, MaxBlockGas: 20_000}
}

func (w *town) fanOuts(n int) (list []*cell.Cell) {
	for range n {
		from := w.pick()
		var messages []*tlb.InternalMessage
		for range 4 {
			messages = append(messages, to(w.pick().addr, 1_000_000, false, nil))
		}
		list = append(list, from.pay(w.t, messages...))
	}
	return list
}

func TestQueuesThatGrowAreWorkedOffInOrder(t *testing.T) {
	w := newTown(t, 40)
	c, a := begin(t, wide(w))
	var masters []*Block
	most, queued := 0, 0
	for i := range 300 {
		var messages []*cell.Cell
		switch {
		case i < 60 && i%6 == 5:
			messages = w.fanOuts(16)
		case i < 60:
		case len(c.Pending()) == 0 && len(a.sent) == 0:
			t.Logf("step %d, %d transactions, at most %d messages on their way, %d entries of what is processed", i, a.count, queued, most)
			if most < 2 || queued < 20 || a.merges < 1 || len(a.received) < 160 {
				t.Fatal("that was too easy")
			}
			return
		}
		switch i {
		case 12:
			must(t, c.Split(0x4000000000000000))
		case 24:
			must(t, c.Merge(0x2000000000000000))
		}
		want, err := c.Step(genUtime+1+uint32(i), messages)
		must(t, err)
		a.bundle(want)
		for _, r := range want.Refused {
			t.Fatalf("refused: %s", r.Reason)
		}
		masters = append(masters, want.Master)
		queued = max(queued, len(a.sent))
		for _, h := range c.shards {
			most = max(most, len(h.state.processed.entries))
		}
		if i%5 == 0 { // what is stored is enough to go on with
			pending := c.pending
			c, err = Resume(wide(w), headOf(c, masters))
			must(t, err)
			c.pending = pending
		}
	}
	t.Fatalf("%d external messages wait for ever, %d internal ones", len(c.Pending()), len(a.sent))
}

// An account that is not there after a transaction keeps no time of it, and the next
// one of the block is later all the same.
func TestTransactionsOfAnAccountThatIsNotThereHaveTheirOwnTimes(t *testing.T) {
	w := newTown(t, 8)
	c, a := begin(t, Options{Seed: 1, GenUtime: genUtime, Accounts: w.accounts()})
	run(t, c, a, w, 2, 0)
	nobody := address.NewAddress(0, 0, repeated(0x12))
	var orders []*cell.Cell
	for _, x := range w.wallets {
		orders = append(orders, x.pay(t, to(nobody, 1_000_000_000, true, nil)))
	}
	seen := map[uint64]bool{}
	for step := range 4 {
		b, err := c.Step(c.master.state.genUtime+1, orders)
		must(t, err)
		a.bundle(b)
		orders = nil
		for _, s := range b.Shards {
			for _, tx := range s.Transactions {
				if [32]byte(nobody.Data()) != tx.Account {
					continue
				}
				if seen[tx.LT] {
					t.Errorf("two transactions have lt %d, step %d", tx.LT, step)
				}
				seen[tx.LT] = true
			}
		}
	}
	if len(seen) != len(w.wallets) {
		t.Errorf("%d messages came, want %d", len(seen), len(w.wallets))
	}
}

// Flags of a message (global version 12) stand where a fee stood, and are no value;
// what such a message gets back says why.
func TestFlagsOfMessagesAreNoValue(t *testing.T) {
	w := newTown(t, 8)
	c, a := begin(t, Options{Seed: 1, GenUtime: genUtime, Accounts: w.accounts()})
	run(t, c, a, w, 8, 0) // until there are two shards
	var orders []*cell.Cell
	for i, x := range w.wallets {
		m := to(address.NewAddress(0, 0, repeated(byte(i*37))), 1_000_000_000, true, cell.BeginCell().MustStoreUInt(0xfeed, 32).EndCell())
		m.IHRFee = tlb.FromNanoTONU(uint64(i % 2 * 3))
		orders = append(orders, x.pay(t, m))
	}
	back := map[uint64]int{}
	for range 6 {
		b, err := c.Step(c.master.state.genUtime+1, orders)
		must(t, err)
		a.bundle(b)
		orders = nil
		for _, s := range b.Shards {
			for _, tx := range s.Transactions {
				var parsed tlb.Transaction
				must(t, tlb.Parse(&parsed, tx.Cell))
				if in := parsed.IO.In; in.MsgType == tlb.MsgTypeInternal && in.AsInternal().Bounced {
					back[in.AsInternal().Body.MustBeginParse().MustLoadUInt(32)]++
				}
			}
		}
	}
	if len(a.sent) != 0 || back[0xffffffff] != 4 || back[0xfffffffe] != 4 {
		t.Errorf("%d messages never came; of those that came back %v, want four of each form", len(a.sent), back)
	}
}

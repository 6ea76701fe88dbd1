package lite

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/test/support/litetest"
)

// onDevnet runs a pool on servers in front of a signed chain.
func onDevnet(t testing.TB, d *litetest.Devnet, servers ...*litetest.Server) *Pool {
	t.Helper()
	c := quick()
	c.Config = litetest.GlobalConfig(t, d.Zero(), d.Init(), servers...)
	return start(t, c)
}

func TestEveryMasterchainBlockOfASignedChainIsProven(t *testing.T) {
	for _, signers := range litetest.Signers {
		t.Run(string(signers), func(t *testing.T) { everyBlockIsProven(t, litetest.NewDevnetBy(t, signers, 1, 66)) })
	}
}

func everyBlockIsProven(t *testing.T, d *litetest.Devnet) {
	p := onDevnet(t, d, litetest.Listen(t, d.Handle))
	for _, seqno := range []uint32{66, 1, 2, 31, 32, 33, 64, 65, 63} {
		id, err := p.Master(t.Context(), seqno)
		if err != nil {
			t.Fatal(err)
		}
		if want := d.Master(seqno).ID; !id.Equals(want) {
			t.Errorf("block %d: %s, want %s", seqno, Format(id), Format(want))
		}
	}
	d.Grow(t, 1, 10)
	head, err := p.WaitHead(t.Context(), 67)
	if err != nil {
		t.Fatal(err)
	}
	if want := d.Master(67).ID; !head.Equals(want) {
		t.Errorf("head %s, want %s", Format(head), Format(want))
	}
}

// someAccounts are basechain accounts with transactions in the newest bundles.
func someAccounts(t testing.TB, d *litetest.Devnet) (accounts []*address.Address, last map[string]chain.Transaction, in map[string]*ton.BlockIDExt) {
	t.Helper()
	last, in = map[string]chain.Transaction{}, map[string]*ton.BlockIDExt{}
	for _, bundle := range d.Bundles {
		for _, block := range bundle.Shards {
			for _, tx := range block.Transactions {
				account := address.NewAddress(0, byte(tx.Workchain), tx.Account[:])
				key := account.StringRaw()
				if _, seen := last[key]; !seen {
					accounts = append(accounts, account)
				}
				last[key], in[key] = tx, block.ID
			}
		}
	}
	if len(accounts) < 5 {
		t.Fatalf("%d accounts with transactions", len(accounts))
	}
	return accounts, last, in
}

func TestAccountsAreProven(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 20)
	p := onDevnet(t, d, litetest.Listen(t, d.Handle))
	head, err := p.WaitHead(t.Context(), 20)
	if err != nil {
		t.Fatal(err)
	}
	accounts, last, _ := someAccounts(t, d)
	for _, account := range accounts[:5] {
		got, err := p.Account(t.Context(), head, account)
		if err != nil {
			t.Fatalf("%s: %v", account, err)
		}
		want := last[account.StringRaw()]
		if got.State == nil || got.LastTransactionLT != want.LT || !bytes.Equal(got.LastTransactionHash, want.Hash[:]) {
			t.Errorf("%s: last transaction %d %X, want %d %X", account, got.LastTransactionLT, got.LastTransactionHash, want.LT, want.Hash)
		}
	}
	nobody := address.NewAddress(0, 0, bytes.Repeat([]byte{0xd7}, 32))
	got, err := p.Account(t.Context(), head, nobody)
	if err != nil || got.State != nil || got.LastTransactionLT != 0 {
		t.Errorf("an account that is not there: %+v, %v", got, err)
	}
	elector := address.NewAddress(0, 0xff, bytes.Repeat([]byte{0x33}, 32))
	if got, err = p.Account(t.Context(), head, elector); err != nil || got.State == nil {
		t.Errorf("a masterchain account: %+v, %v", got, err)
	}
}

// A server that gives the proof of another account, in which the wanted one's
// branch was left out, and says that there is no such account.
func TestAnAccountIsNotDeniedByLeavingItOutOfTheProof(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 20)
	bad := litetest.NewFaulty(d.Handle)
	lying := litetest.Listen(t, bad.Handle)
	p := onDevnet(t, d, lying, litetest.Listen(t, d.Handle))
	head, err := p.WaitHead(t.Context(), 20)
	if err != nil {
		t.Fatal(err)
	}
	accounts, _, in := someAccounts(t, d)
	wanted, neighbour := accounts[0], (*address.Address)(nil)
	for _, other := range accounts[1:] {
		if in[other.StringRaw()].Shard == in[wanted.StringRaw()].Shard {
			neighbour = other
		}
	}
	bad.BreakFor(func(query any) bool {
		_, ok := query.(ton.GetAccountState)
		return ok
	}, func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
		q := r.Query.(ton.GetAccountState)
		q.Account.ID = neighbour.Data()
		answer := honest(ctx, litetest.Request{Wait: r.Wait, Query: q}).(ton.AccountState)
		answer.State = nil
		return answer
	})
	goesFirst(t, p, 20)
	got, err := p.Account(t.Context(), head, wanted)
	if err != nil || got.State == nil {
		t.Errorf("%+v, %v: want the account", got, err)
	}
	if bad.Count() != 1 || p.strikes(lying) != 1 {
		t.Errorf("the liar was asked %d times and left out %d times", bad.Count(), p.strikes(lying))
	}
}

func TestBlocksShardsAndConfigAreProven(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 12)
	p := onDevnet(t, d, litetest.Listen(t, d.Handle))
	head, err := p.WaitHead(t.Context(), 12)
	if err != nil {
		t.Fatal(err)
	}
	shards, err := p.AllShards(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range shards {
		data, root, err := p.Block(t.Context(), shard)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := d.Store.Block(shard)
		if err != nil || !bytes.Equal(stored.Data, data) || !bytes.Equal(root.Hash(), shard.RootHash) {
			t.Errorf("block %s: %d bytes, the chain has others: %v", Format(shard), len(data), err)
		}
		id, header, err := p.Lookup(t.Context(), Lookup{Workchain: shard.Workchain, Shard: shard.Shard, LT: stored.EndLT})
		if err != nil || !id.Equals(shard) || header.EndLt != stored.EndLT {
			t.Errorf("by lt: %v, %v, want %s", id, err, Format(shard))
		}
	}
	id, _, err := p.Lookup(t.Context(), Lookup{Workchain: -1, Shard: masterShard, UTime: d.Master(7).GenUtime})
	if err != nil || !id.Equals(d.Master(7).ID) {
		t.Errorf("by time: %v, %v, want %s", id, err, Format(d.Master(7).ID))
	}
	whole, err := p.Config(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	some, err := p.Config(t.Context(), head, 8)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := param(t, whole, 8), param(t, some, 8); !bytes.Equal(a, b) {
		t.Errorf("config param 8: %X of all, %X alone", a, b)
	}
	if _, _, err := p.Lookup(t.Context(), Lookup{Workchain: 0, Shard: masterShard, Seqno: 100_000}); !IsMissing(err) {
		t.Errorf("a block of the future: error %v", err)
	}
}

// A server that gives a later block of the shard for an lt or a time is not believed.
func TestABlockThatIsLookedUpByLTOrTimeIsTheFirstOne(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 12)
	server := litetest.NewFaulty(d.Handle)
	p := onDevnet(t, d, litetest.Listen(t, server.Handle))
	if _, err := p.WaitHead(t.Context(), 12); err != nil {
		t.Fatal(err)
	}
	master, shard := d.Master(5), d.Bundles[4].Shards[0]
	for what, c := range map[string]struct {
		lookup Lookup
		want   *ton.BlockIDExt
	}{
		"its lt":              {Lookup{Workchain: -1, Shard: masterShard, LT: master.EndLT}, master.ID},
		"an lt before it":     {Lookup{Workchain: -1, Shard: masterShard, LT: master.StartLT - 1}, master.ID},
		"its time":            {Lookup{Workchain: -1, Shard: masterShard, UTime: master.GenUtime}, master.ID},
		"a time before it":    {Lookup{Workchain: -1, Shard: masterShard, UTime: master.GenUtime - 1}, master.ID},
		"the lt of a shard":   {Lookup{Shard: shard.ID.Shard, LT: shard.StartLT - 1}, shard.ID},
		"the time of a shard": {Lookup{Shard: shard.ID.Shard, UTime: shard.GenUtime - 1}, shard.ID},
		"the first lt":        {Lookup{Workchain: -1, Shard: masterShard, LT: 1}, d.Master(1).ID},
	} {
		server.Break(nil)
		if id, _, err := p.Lookup(t.Context(), c.lookup); err != nil || !id.Equals(c.want) {
			t.Errorf("by %s: %v, %v, want %s", what, id, err, shortID(c.want))
		}
		server.BreakFor(func(query any) bool {
			q, ok := query.(ton.LookupBlock)
			return ok && q.Mode != 1
		}, func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			q := r.Query.(ton.LookupBlock)
			q.LT, q.UTime = q.LT+5_000_000, q.UTime+20
			return honest(ctx, litetest.Request{Query: q})
		})
		if id, _, err := p.Lookup(t.Context(), c.lookup); !errors.Is(err, ErrRefused) {
			t.Errorf("by %s, of a liar: %v, %v, want %v", what, id, err, ErrRefused)
		}
	}
}

// A server gives a block that it has made up, and that nobody can prove before the chain
// comes to its seqno, for an lt or a time that the chain has passed.
func TestABlockBeyondTheHeadIsNotWaitedForWhereTheChainIsLaterAlready(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 12)
	want := d.Master(5)
	var header tlb.BlockHeader
	if err := tlb.Parse(&header, want.Root.MustPeekRef(0)); err != nil {
		t.Fatal(err)
	}
	header.SeqNo = 1 << 30
	info, err := tlb.ToCell(header)
	if err != nil {
		t.Fatal(err)
	}
	root := cell.BeginCell().MustStoreSlice(want.Root.MustBeginParse().MustLoadSlice(64), 64).MustStoreRef(info).
		MustStoreRef(want.Root.MustPeekRef(1)).MustStoreRef(want.Root.MustPeekRef(2)).MustStoreRef(want.Root.MustPeekRef(3)).EndCell()
	proof, err := cell.CreateMerkleProof(root)
	if err != nil {
		t.Fatal(err)
	}
	id := *want.ID
	id.SeqNo, id.RootHash = header.SeqNo, root.Hash()
	for _, l := range []Lookup{{LT: want.EndLT}, {UTime: want.GenUtime}} {
		l.Workchain, l.Shard = -1, masterShard
		liar := litetest.NewFaulty(d.Handle)
		p := onDevnet(t, d, litetest.Listen(t, liar.Handle), litetest.Listen(t, d.Handle))
		if _, err := p.WaitHead(t.Context(), 12); err != nil {
			t.Fatal(err)
		}
		goesFirst(t, p, 12)
		liar.BreakFor(func(query any) bool {
			_, ok := query.(ton.LookupBlock)
			return ok
		}, func(context.Context, litetest.Request, litetest.Handler) any {
			return ton.BlockHeader{ID: &id, HeaderProof: proof.ToBOC()}
		})
		if got, _, err := p.Lookup(t.Context(), l); err != nil || !got.Equals(want.ID) || liar.Count() == 0 {
			t.Errorf("%+v: %v, %v, want %s", l, got, err, shortID(want.ID))
		}
	}
}

// A server whose proof shows some parameters only, and references in place of others.
func TestNoParameterOfTheConfigurationIsLeftOut(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 12)
	server := litetest.NewFaulty(d.Handle)
	p := onDevnet(t, d, litetest.Listen(t, server.Handle))
	head, err := p.WaitHead(t.Context(), 12)
	if err != nil {
		t.Fatal(err)
	}
	if whole, err := p.Config(t.Context(), head); err != nil || whole.Level() != 0 {
		t.Fatalf("the configuration: %v, %v", whole, err)
	}
	server.BreakFor(func(query any) bool {
		_, ok := query.(ton.GetConfigAll)
		return ok
	}, func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
		return honest(ctx, litetest.Request{Query: ton.GetConfigParams{BlockID: r.Query.(ton.GetConfigAll).BlockID, Params: []int32{8}}})
	})
	if _, err := p.Config(t.Context(), head); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v, want %v", err, ErrRefused)
	}
}

func param(t *testing.T, config *cell.Cell, number int64) []byte {
	t.Helper()
	value, err := config.AsDict(32).LoadValueByIntKey(big.NewInt(number))
	if err != nil {
		t.Fatal(err)
	}
	return value.MustToCell().Hash()
}

func TestTransactionsFollowTheHashChain(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 30)
	bad := litetest.NewFaulty(d.Handle)
	lying := litetest.Listen(t, bad.Handle)
	p := onDevnet(t, d, lying, litetest.Listen(t, d.Handle))
	if _, err := p.WaitHead(t.Context(), 30); err != nil {
		t.Fatal(err)
	}
	accounts, last, _ := someAccounts(t, d)
	bad.BreakFor(func(query any) bool {
		_, ok := query.(ton.GetTransactions)
		return ok
	}, func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
		list := honest(ctx, r).(ton.TransactionList)
		roots, err := cell.FromBOCMultiRoot(list.Transactions)
		if err != nil {
			t.Error(err)
		}
		roots[0] = cell.BeginCell().MustStoreRef(roots[0]).EndCell()
		list.Transactions = cell.ToBOCWithOptions(roots, cell.BOCSerializeOptions{})
		return list
	})
	goesFirst(t, p, 30)
	for _, account := range accounts[:5] {
		want := last[account.StringRaw()]
		list, err := p.Transactions(t.Context(), account, want.LT, want.Hash[:], 5, 0, false)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %d transactions, %v", account, len(list), err)
		}
		if !bytes.Equal(list[0].Hash(), want.Hash[:]) {
			t.Errorf("%s: %X, want %X", account, list[0].Hash(), want.Hash)
		}
	}
	if n := p.strikes(lying); n != 1 {
		t.Errorf("the liar was left out %d times", n)
	}
}

// Servers that hide an account's transactions, or give more of them than were asked
// for.
func TestAHistoryIsNeitherHiddenNorLongerThanAskedFor(t *testing.T) {
	for name, limit := range map[string]int32{"none": 0, "more": 16} {
		t.Run(name, func(t *testing.T) {
			d := litetest.NewDevnet(t, 1, 30)
			bad := litetest.NewFaulty(d.Handle)
			lying := litetest.Listen(t, bad.Handle)
			p := onDevnet(t, d, lying, litetest.Listen(t, d.Handle))
			if _, err := p.WaitHead(t.Context(), 30); err != nil {
				t.Fatal(err)
			}
			bad.BreakFor(func(query any) bool {
				_, ok := query.(ton.GetTransactions)
				return ok
			}, func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
				if limit == 0 {
					return ton.TransactionList{}
				}
				q := r.Query.(ton.GetTransactions)
				q.Limit = limit
				return honest(ctx, litetest.Request{Query: q})
			})
			goesFirst(t, p, 30)
			accounts, last, _ := someAccounts(t, d)
			for _, account := range accounts {
				newest := last[account.StringRaw()]
				list, err := p.Transactions(t.Context(), account, newest.LT, newest.Hash[:], 1, 30, false)
				if err != nil || len(list) != 1 {
					t.Fatalf("%s: %d transactions, %v, want one", account, len(list), err)
				}
			}
			if bad.Count() == 0 {
				t.Error("the liar was not asked")
			}
		})
	}
}

func TestMessagesAreSent(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 10)
	p := onDevnet(t, d, litetest.Listen(t, d.Handle), litetest.Listen(t, d.Handle))
	if _, err := p.WaitHead(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	message := cell.BeginCell().MustStoreUInt(0xfeed, 16).EndCell()
	if err := p.Send(t.Context(), message.ToBOC()); err != nil {
		t.Fatal(err)
	}
	if got := <-d.Sent; !bytes.Equal(got.Hash(), message.Hash()) {
		t.Errorf("sent %X, want %X", got.Hash(), message.Hash())
	}
	libraries, err := p.Libraries(t.Context(), make([]byte, 32))
	if err != nil || len(libraries) != 1 || libraries[0] != nil {
		t.Errorf("a library that is not there: %v, %v", libraries, err)
	}
}

func TestAMessageThatAServerTakesIsSentAlthoughItsSenderHasGone(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 5)
	ctx, leave := context.WithCancel(t.Context())
	p := onDevnet(t, d, litetest.Listen(t, func(ctx context.Context, r litetest.Request) any {
		if _, is := r.Query.(ton.SendMessage); is {
			leave()
			time.Sleep(100 * time.Millisecond) // so that it is noticed
		}
		return d.Handle(ctx, r)
	}))
	if _, err := p.WaitHead(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	message := cell.BeginCell().MustStoreUInt(0xfeed, 16).EndCell()
	if err := p.Send(ctx, message.ToBOC()); err != nil || len(d.Sent) != 1 {
		t.Errorf("%d messages sent, %v; want one, and to be told so", len(d.Sent), err)
	}
}

func TestShardsAreNotDeniedByTheBitBeforeThem(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 5)
	head := d.Master(5).ID
	honest := d.Handle(t.Context(), litetest.Request{Query: ton.GetAllShardsInfo{ID: head}}).(ton.AllShardsInfo)
	if shards, err := readShards(t.Context(), honest, head); err != nil || len(shards) == 0 {
		t.Fatalf("the real answer: %d shards, %v", len(shards), err)
	}
	honest.Data = cell.BeginCell().MustStoreBoolBit(false).MustStoreRef(honest.Data.MustPeekRef(0)).EndCell()
	if shards, err := readShards(t.Context(), honest, head); err == nil {
		t.Errorf("%d shards and no error", len(shards))
	}
}

// Signatures of a simplex session are over a vote for a candidate, which names
// the block: neither may be exchanged.
func TestForgedSimplexProofsAreNotBelieved(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 20)
	other, err := d.Store.Signatures(19)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(s *ton.SignatureSetSimplex) any{
		"another slot":      func(s *ton.SignatureSetSimplex) any { s.Slot++; return *s },
		"another session":   func(s *ton.SignatureSetSimplex) any { s.SessionID[7] ^= 1; return *s },
		"another candidate": func(s *ton.SignatureSetSimplex) any { s.Candidate[90] ^= 1; return *s },
		"a candidate that names another block": func(s *ton.SignatureSetSimplex) any {
			s.Candidate = other.(ton.SignatureSetSimplex).Candidate
			return *s
		},
		"signatures of another block": func(*ton.SignatureSetSimplex) any { return other },
		"another catchain seqno":      func(s *ton.SignatureSetSimplex) any { s.CCSeqno++; return *s },
		"no signatures":               func(s *ton.SignatureSetSimplex) any { s.Signatures = nil; return *s },
		"the same as ordinary ones": func(s *ton.SignatureSetSimplex) any {
			return ton.SignatureSet{ValidatorSetHash: s.ValidatorSetHash, CatchainSeqno: s.CCSeqno, Signatures: s.Signatures}
		},
	} {
		t.Run(name, func(t *testing.T) {
			liar := litetest.NewFaulty(d.Handle)
			liar.Break(func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
				answer := honest(ctx, r)
				part, ok := answer.(ton.PartialBlockProof)
				if !ok || len(part.Steps) == 0 {
					return answer
				}
				last := len(part.Steps) - 1
				link, ok := part.Steps[last].(ton.BlockLinkForward)
				if !ok {
					return answer
				}
				set := link.SignatureSet.(ton.SignatureSetSimplex)
				set.SessionID, set.Candidate = bytes.Clone(set.SessionID), bytes.Clone(set.Candidate)
				link.SignatureSet = change(&set)
				part.Steps[last] = link
				return part
			})
			lying := litetest.Listen(t, liar.Handle)
			p := onDevnet(t, d, lying)
			await(t, p, "the liar is left out", func() bool { return p.strikes(lying) == 1 })
			if head, _ := p.chain.get(); head != nil {
				t.Errorf("head %s by the word of a liar", Format(head))
			}
		})
	}
}

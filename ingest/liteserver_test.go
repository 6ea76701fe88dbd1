package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/test/support/litetest"
)

// overLite is a configuration that reads from servers, quick to give up and to
// try again. Real blocks of 2019 come without signatures, so proofs are off.
func overLite(t testing.TB, from, to uint32, servers ...*litetest.Server) Configuration {
	t.Helper()
	c := configure("liteserver:"+litetest.GlobalConfig(t, nil, nil, servers...), from, to)
	c.Proofs = lite.Off
	c.Lite.ReconnectMin, c.Lite.ReconnectMax = time.Millisecond, 20*time.Millisecond
	c.Lite.CoolOff, c.Lite.CoolOffMax = 20*time.Millisecond, 50*time.Millisecond
	c.Lite.AttemptTimeout, c.Lite.HedgeMin, c.Lite.HedgeMax = time.Second, 5*time.Millisecond, 100*time.Millisecond
	c.Lite.Timeout, c.Lite.WaitHead = 3*time.Second, 500*time.Millisecond
	return c
}

func folder(t *testing.T, head uint32) *litetest.Folder {
	t.Helper()
	return litetest.OpenFolder(t, genesis(t), head)
}

// compareBundles tests a stream from lite servers against one from files.
func compareBundles(t *testing.T, got *tape, to uint32) {
	t.Helper()
	want := newTape(1)
	publish(t, configure("files:"+genesis(t), 1, to), want)
	if a, b := text(want.read(t, 0)), text(got.read(t, 0)); !slices.Equal(a, b) {
		t.Errorf("from lite servers %d records, from files %d, or they differ:\n%v\n%v", len(b), len(a), b, a)
	}
}

func TestLiteServersGiveTheSameBundlesAsFiles(t *testing.T) {
	server := litetest.Listen(t, folder(t, 60).Handle)
	got := newTape(1)
	publish(t, overLite(t, 1, 60, server), got)
	compareBundles(t, got, 60)
}

func TestBlocksAreReadAsTheLiteServerMakesThem(t *testing.T) {
	chain := folder(t, 3)
	log := newTape(1)
	begin(t, component(t, overLite(t, 1, 0, litetest.Listen(t, chain.Handle)), log))
	for head := uint32(3); head <= 12; head++ {
		chain.Show(head)
		log.await(t, head)
	}
	if got := bundles(log.read(t, 0)); len(got) != 12 {
		t.Errorf("bundles %v, want 1 to 12", got)
	}
}

// faults are what a lite server may do wrong with blocks and look-ups.
func faults(chain *litetest.Folder) map[string]litetest.Fault {
	other := func(id *ton.BlockIDExt) *ton.BlockIDExt {
		seqno := id.SeqNo - 1
		if seqno == 0 {
			seqno = 2
		}
		return chain.ID(id.Workchain, id.Shard, seqno)
	}
	return map[string]litetest.Fault{
		"is silent": func(ctx context.Context, _ litetest.Request, _ litetest.Handler) any {
			<-ctx.Done()
			return nil
		},
		"answers garbage": func(context.Context, litetest.Request, litetest.Handler) any {
			return tl.Raw("no answer of a lite server at all")
		},
		"is behind": func(_ context.Context, r litetest.Request, _ litetest.Handler) any {
			if _, ok := r.Query.(ton.GetMasterchainInf); ok {
				return ton.MasterchainInfo{Last: chain.ID(-1, litetest.MasterShard, 2), StateRootHash: make([]byte, 32),
					Init: &ton.ZeroStateIDExt{Workchain: -1, RootHash: make([]byte, 32), FileHash: make([]byte, 32)}}
			}
			return ton.LSError{Code: 651, Text: "block is not in db"}
		},
		"gives other blocks": func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			switch q := r.Query.(type) {
			case ton.GetBlockData:
				if data, ok := honest(ctx, litetest.Request{Query: ton.GetBlockData{ID: other(q.ID)}}).(ton.BlockData); ok {
					return ton.BlockData{ID: q.ID, Payload: data.Payload}
				}
			case ton.LookupBlock:
				id := other(&ton.BlockIDExt{Workchain: q.ID.Workchain, Shard: q.ID.Shard, SeqNo: uint32(q.ID.Seqno)})
				return honest(ctx, litetest.Request{Query: ton.GetBlockHeader{ID: id}})
			}
			return honest(ctx, r)
		},
		"changes blocks": func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			answer := honest(ctx, r)
			if data, ok := answer.(ton.BlockData); ok {
				data.Payload[len(data.Payload)-40] ^= 0x10
				return data
			}
			return answer
		},
		"limits requests": func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			return ton.LSError{Code: 429, Text: "too many requests"}
		},
	}
}

// One good server is enough, and the stream is the same.
func TestOneHonestLiteServerIsEnough(t *testing.T) {
	for name, fault := range faults(folder(t, 60)) {
		t.Run("the other "+name, func(t *testing.T) {
			chain := folder(t, 60)
			bad := litetest.NewFaulty(chain.Handle)
			c := overLite(t, 1, 60, litetest.Listen(t, bad.Handle), litetest.Listen(t, chain.Handle))
			got := newTape(1)
			made := component(t, c, got)
			if name != "is behind" { // it is from the start
				bad.BreakFor(butHeads, fault)
			} else {
				bad.Break(fault)
			}
			begin(t, made)
			await(t, made)
			if err := made.Err(); err != nil {
				t.Fatal(err)
			}
			compareBundles(t, got, 60)
		})
	}
}

// Without an honest server nothing is published, the reason is told, and it goes
// on by itself as soon as one is there.
func TestWithoutAnHonestLiteServerTheStageWaitsAndSaysWhy(t *testing.T) {
	whys := map[string]string{
		"is silent": "deadline exceeded", "answers garbage": "no TL answer", "is behind": "is missing", "gives other blocks": "",
		"changes blocks": "file hash", "limits requests": "busy",
	}
	for name, fault := range faults(folder(t, 60)) {
		t.Run("the only one "+name, func(t *testing.T) {
			chain := folder(t, 10)
			bad := litetest.NewFaulty(chain.Handle)
			c := overLite(t, 1, 60, litetest.Listen(t, bad.Handle))
			c.Lite.Timeout, c.Lite.AttemptTimeout = 200*time.Millisecond, 100*time.Millisecond
			c.OnBad, c.OnGap = Wait, Wait
			got := newTape(1)
			made := component(t, c, got)
			begin(t, made)
			got.await(t, 10)
			bad.BreakFor(butHeads, fault)
			chain.Show(60)
			awaitWaiting(t, made, whys[name])
			bad.Break(nil)
			await(t, made)
			if err := made.Err(); err != nil {
				t.Fatal(err)
			}
			compareBundles(t, got, 60)
		})
	}
}

func TestAStartBehindTheHeadOfLiteServersSaysWhatItWaitsFor(t *testing.T) {
	chain := folder(t, 15)
	log, book := newTape(1), &logBook{said: make(chan struct{}, 100)}
	made := observed(t, overLite(t, 31, 60, litetest.Listen(t, chain.Handle)), log, book)
	started := make(chan error, 1)
	go func() { started <- made.Start(t.Context()) }()
	book.await(t, "waiting for the source to go on", `"level":"warn"`, "another chain", `"bundle":30`, `"source_ends_at":15`)
	chain.Show(60)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	await(t, made)
	if err := errors.Join(made.Err(), made.Stop(context.Background())); err != nil {
		t.Fatal(err)
	}
	if n := bundles(log.read(t, 0)); len(n) != 30 || n[0] != 31 {
		t.Errorf("bundles %v, want 31 to 60", n)
	}
}

func TestAStartWaitsForLiteServersThatDoNotGiveTheBlockBefore(t *testing.T) {
	chain := folder(t, 60)
	bad := litetest.NewFaulty(chain.Handle)
	bad.BreakFor(butHeads, faults(chain)["limits requests"])
	c := overLite(t, 21, 60, litetest.Listen(t, bad.Handle))
	c.Lite.Timeout, c.Lite.AttemptTimeout = 200*time.Millisecond, 100*time.Millisecond
	got := newTape(1)
	made := component(t, c, got)
	started := make(chan error, 1)
	go func() { started <- made.Start(t.Context()) }()
	awaitWaiting(t, made, "block (-1,8000000000000000,20) cannot be asked for")
	bad.Break(nil)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	await(t, made)
	if err := errors.Join(made.Err(), made.Stop(context.Background())); err != nil {
		t.Fatal(err)
	}
	if n := bundles(got.read(t, 0)); len(n) != 40 || n[0] != 21 {
		t.Errorf("bundles %v, want 21 to 60", n)
	}
}

// butHeads are all queries but those for the newest block.
func butHeads(query any) bool {
	_, head := query.(ton.GetMasterchainInf)
	return !head
}

// awaitWaiting returns once the stage says that it waits, and why.
func awaitWaiting(t *testing.T, made *Component, why string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		waiting := made.Status().Waiting
		if waiting != "" && strings.Contains(waiting, why) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("waiting for %q, want %q", waiting, why)
		}
	}
}

// A server that cannot be asked is no gap, whatever the policy.
func TestNoBundleIsSkippedWhileLiteServersAreAway(t *testing.T) {
	chain := folder(t, 10)
	server := litetest.Listen(t, chain.Handle)
	c := overLite(t, 1, 60, server)
	c.Lite.Timeout, c.Lite.AttemptTimeout = 200*time.Millisecond, 100*time.Millisecond
	c.OnBad, c.OnGap = Skip, Skip
	got := newTape(1)
	made := component(t, c, got)
	begin(t, made)
	got.await(t, 10)
	server.Stop()
	chain.Show(60)
	awaitWaiting(t, made, server.Address())
	if err := server.Resume(); err != nil {
		t.Skipf("skipped: the port was taken meanwhile: %v", err)
	}
	await(t, made)
	if err := made.Err(); err != nil {
		t.Fatal(err)
	}
	compareBundles(t, got, 60)
}

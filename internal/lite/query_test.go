package lite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/litetest"
)

// blocks are requests for blocks; heads and proofs stay honest.
func blocks(query any) bool {
	_, ok := query.(ton.GetBlockData)
	return ok
}

// stall never answers.
func stall(ctx context.Context, _ litetest.Request, _ litetest.Handler) any {
	<-ctx.Done()
	return nil
}

// A server that fails in some way, beside a good one: the block comes from the
// good one, and who lied is left out.
func TestABlockComesFromWhoeverIsHonest(t *testing.T) {
	for name, c := range map[string]struct {
		fault  litetest.Fault
		strike bool
	}{
		"stalled": {stall, false},
		"another block": {func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			other := honest(ctx, litetest.Request{Query: ton.LookupBlock{Mode: 1, ID: &ton.BlockInfoShort{Workchain: -1, Shard: litetest.MasterShard, Seqno: 3082185}}})
			data := honest(ctx, litetest.Request{Query: ton.GetBlockData{ID: other.(ton.BlockHeader).ID}}).(ton.BlockData)
			return ton.BlockData{ID: r.Query.(ton.GetBlockData).ID, Payload: data.Payload}
		}, true},
		"a changed block": {func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			data := honest(ctx, r).(ton.BlockData)
			data.Payload[len(data.Payload)/2] ^= 1
			return data
		}, true},
		"another answer": {func(context.Context, litetest.Request, litetest.Handler) any {
			return ton.CurrentTime{Now: 1}
		}, true},
		"no TL": {func(context.Context, litetest.Request, litetest.Handler) any {
			return tl.Raw(bytes.Repeat([]byte{0xa5}, 100))
		}, true},
		"nothing": {func(context.Context, litetest.Request, litetest.Handler) any { return tl.Raw{} }, true},
		"cells that break the parser": {func(_ context.Context, r litetest.Request, _ litetest.Handler) any {
			return oneRoot(t, r.Query.(ton.GetBlockData).ID)
		}, true},
		"not found": {func(context.Context, litetest.Request, litetest.Handler) any {
			return ton.LSError{Code: 651, Text: "block is not in db"}
		}, false},
		"busy": {func(context.Context, litetest.Request, litetest.Handler) any {
			return liteclient.ServerBusy{Code: 1, Text: "busy"}
		}, false},
		"rate limit": {func(context.Context, litetest.Request, litetest.Handler) any {
			return ton.LSError{Code: 228, Text: "too many requests"}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			chain := mainnet(t, lastSigned)
			bad := litetest.NewFaulty(chain.Handle)
			broken := litetest.Listen(t, bad.Handle)
			sound := litetest.Listen(t, chain.Handle)
			p := follow(t, chain, broken, sound)
			if _, err := p.WaitHead(t.Context(), lastSigned); err != nil {
				t.Fatal(err)
			}
			goesFirst(t, p, lastSigned)
			bad.BreakFor(blocks, c.fault)
			id := chain.ID(-1, litetest.MasterShard, lastSigned)
			data, from, err := p.BlockData(t.Context(), id, lastSigned)
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256(data); !bytes.Equal(sum[:], id.FileHash) || from != sound.Address() {
				t.Errorf("%d bytes with hash %X from %s, want block %s from %s", len(data), sum, from, Format(id), sound.Address())
			}
			if bad.Count() == 0 {
				t.Error("the bad server was not asked")
			}
			if got := p.strikes(broken); (got == 1) != c.strike {
				t.Errorf("%d strikes, want one: %t", got, c.strike)
			}
			if got := p.strikes(sound); got != 0 {
				t.Errorf("%d strikes for the good server", got)
			}
		})
	}
}

// oneRoot is a liteServer.accountState whose proofs have one root instead of two:
// a parser of it panics.
func oneRoot(t *testing.T, id *ton.BlockIDExt) tl.Raw {
	data := binary.LittleEndian.AppendUint32(nil, tl.CRC("liteServer.accountState id:tonNode.blockIdExt shardblk:tonNode.blockIdExt shard_proof:bytes proof:bytes state:bytes = liteServer.AccountState"))
	for range 2 {
		bytes, err := tl.Serialize(id, false)
		if err != nil {
			t.Error(err)
		}
		data = append(data, bytes...)
	}
	for range 3 {
		var err error
		if data, err = tl.AppendBytes(data, cell.BeginCell().EndCell().ToBOC()); err != nil {
			t.Error(err)
		}
	}
	return data
}

func TestAnAnswerThatBreaksTheParserIsAnError(t *testing.T) {
	id := zeroState(1)
	if _, err := parse(oneRoot(t, id)); err == nil || !strings.Contains(err.Error(), "malformed") {
		t.Errorf("error %v, want a panic turned into one", err)
	}
}

func TestASlowServerIsHedged(t *testing.T) {
	chain := mainnet(t, lastSigned)
	slow := litetest.NewFaulty(chain.Handle)
	first, second := litetest.Listen(t, slow.Handle), litetest.Listen(t, chain.Handle)
	c := quick()
	c.Config = litetest.GlobalConfig(t, nil, chain.Key(), first, second)
	c.AttemptTimeout = time.Hour // only the second question can help
	c.Timeout = time.Hour
	p := start(t, c)
	if _, err := p.WaitHead(t.Context(), lastSigned); err != nil {
		t.Fatal(err)
	}
	goesFirst(t, p, lastSigned)
	slow.BreakFor(blocks, stall)
	_, from, err := p.BlockData(t.Context(), chain.Key(), firstSigned)
	if err != nil || from != second.Address() || slow.Count() != 1 {
		t.Errorf("from %s, %v, the slow one was asked %d times", from, err, slow.Count())
	}
	if expect := p.servers[0].latency.expect(time.Now()); expect < 0.01 {
		t.Errorf("the silent server keeps its good name: %v s", expect)
	}
}

func TestDeadServersAreNamedAndReachedAgain(t *testing.T) {
	chain := mainnet(t, firstSigned+1)
	server := litetest.Listen(t, chain.Handle)
	p := follow(t, chain, server)
	if _, err := p.WaitHead(t.Context(), firstSigned+1); err != nil || !p.Reached() {
		t.Fatalf("reached: %t, %v", p.Reached(), err)
	}
	server.Stop()
	await(t, p, "the connection is lost", func() bool { return !p.Reached() })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, _, err := p.BlockData(ctx, chain.Key(), firstSigned)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), server.Address()) {
		t.Errorf("error %v, want one that names %s", err, server.Address())
	}
	if err := p.Problem(); err == nil || !strings.Contains(err.Error(), server.Address()) {
		t.Errorf("problem %v, want one that names %s", err, server.Address())
	}
	chain.Show(lastSigned)
	asked := make(chan error, 1)
	go func() {
		_, _, err := p.BlockData(t.Context(), chain.Key(), firstSigned)
		asked <- err
	}()
	if err := server.Resume(); err != nil {
		t.Skipf("skipped: the port was taken meanwhile: %v", err)
	}
	if err := <-asked; err != nil {
		t.Errorf("asked while the server was away: %v", err)
	}
	if _, err := p.WaitHead(t.Context(), lastSigned); err != nil {
		t.Error(err)
	}
}

func TestWhatEverybodyRefutesIsAnErrorAndLeavesNobodyOut(t *testing.T) {
	chain := mainnet(t, lastSigned)
	one, two := litetest.Listen(t, chain.Handle), litetest.Listen(t, chain.Handle)
	p := follow(t, chain, one, two)
	if _, err := p.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err := p.Query(t.Context(), Query{Request: ton.GetMasterchainInf{}, Check: func(any) error { return errors.New("no answer would do") }})
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "no answer would do") {
		t.Errorf("error %v, want %v", err, ErrRefused)
	}
	if p.strikes(one)+p.strikes(two) != 0 {
		t.Error("servers are left out because of a question that nobody can answer")
	}
	_, _, err = p.BlockData(t.Context(), &ton.BlockIDExt{Workchain: -1, Shard: litetest.MasterShard, SeqNo: 5, RootHash: make([]byte, 32), FileHash: make([]byte, 32)}, 0)
	if !IsMissing(err) {
		t.Errorf("unknown block: error %v, want one of a missing block", err)
	}
	if _, _, err := p.Query(t.Context(), Query{Request: ton.GetMasterchainInf{}, Archival: true}); !errors.Is(err, ErrNoArchive) {
		t.Errorf("archival: error %v, want %v", err, ErrNoArchive)
	}
}

func TestRequestsToOneServerAreBounded(t *testing.T) {
	chain := mainnet(t, lastSigned)
	const bound = 3
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	gate := litetest.NewFaulty(chain.Handle)
	c := quick()
	c.Config = litetest.GlobalConfig(t, nil, chain.Key(), litetest.Listen(t, gate.Handle))
	c.Concurrency, c.AttemptTimeout, c.Timeout = bound, time.Hour, time.Hour
	p := start(t, c)
	if _, err := p.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	gate.BreakFor(blocks, func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
		entered <- struct{}{}
		<-leave
		return honest(ctx, r)
	})
	done := make(chan error)
	for range 3 * bound {
		go func() {
			_, _, err := p.BlockData(t.Context(), chain.Key(), 0)
			done <- err
		}()
	}
	for range bound {
		<-entered
	}
	if n := gate.Count(); n > bound {
		t.Errorf("%d requests at once, want at most %d", n, bound)
	}
	close(leave)
	for range 3 * bound {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestARateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(50)
		taken := 0
		for b.take() == 0 {
			taken++
		}
		if taken != 50 {
			t.Errorf("%d requests at once, want a second's worth, 50", taken)
		}
		if pause := b.take(); pause <= 0 || pause > time.Second/50 {
			t.Errorf("pause %s, want up to %s", pause, time.Second/50)
		}
		if pause := newBucket(0).take(); pause != 0 {
			t.Errorf("without a bound: pause %s", pause)
		}
	})
}

func TestOldBlocksAreAskedForWhereTheyAreKept(t *testing.T) {
	chain := mainnet(t, lastSigned)
	// Block 3, with which servers that keep old blocks are told from others, is
	// not at hand: the archive answers for it with the key block's header.
	keeps := func(ctx context.Context, r litetest.Request) any {
		if q, ok := r.Query.(ton.LookupBlock); ok && q.ID.Seqno == oldSeqno {
			header := chain.Handle(ctx, litetest.Request{Query: ton.GetBlockHeader{ID: chain.Key()}}).(ton.BlockHeader)
			header.ID = header.ID.Copy()
			header.ID.SeqNo = oldSeqno
			return header
		}
		return chain.Handle(ctx, r)
	}
	prunes := func(ctx context.Context, r litetest.Request) any {
		if q, ok := r.Query.(ton.GetBlockData); ok && q.ID.SeqNo < lastSigned {
			return ton.LSError{Code: 651, Text: "block is not in db"}
		}
		return chain.Handle(ctx, r)
	}
	archive := litetest.Listen(t, keeps)
	servers := []*litetest.Server{archive}
	for range quick().Attempts + 1 {
		servers = append(servers, litetest.Listen(t, prunes))
	}
	p := follow(t, chain, servers...)
	if _, err := p.WaitHead(t.Context(), lastSigned); err != nil {
		t.Fatal(err)
	}
	await(t, p, "all are connected", func() bool { return len(p.best()) == len(servers) })
	if !p.FindArchive(t.Context()) {
		t.Fatal("no archive found")
	}
	p.servers[0].latency.answered(time.Minute) // so that the others go first
	_, from, err := p.BlockData(t.Context(), chain.Key(), firstSigned)
	if err != nil || from != archive.Address() {
		t.Errorf("from %s, %v, want from %s", from, err, archive.Address())
	}
}

// A server that says nothing always has slots free.
func TestRequestsWaitForAGoodServerRatherThanAskASilentOne(t *testing.T) {
	chain := mainnet(t, lastSigned)
	p := follow(t, chain, litetest.Listen(t, chain.Handle), litetest.Listen(t, chain.Handle))
	if _, err := p.WaitHead(t.Context(), lastSigned); err != nil {
		t.Fatal(err)
	}
	await(t, p, "both are connected", func() bool { return len(p.best()) == 2 })
	good, silent := p.servers[0], p.servers[1]
	for range 20 {
		good.latency.answered(time.Millisecond)
		silent.latency.outrun(200 * time.Millisecond)
	}
	r := &race{pool: p, tried: map[*server]bool{}}
	taken := 0
	for p.slots.try([]*server{good}) != nil {
		taken++
	}
	if taken == 0 || p.slots.try(r.candidates()) != nil {
		t.Errorf("with %d requests at the good server another one was given to the silent one", taken)
	}
	w := p.slots.join(r.takes)
	defer p.slots.leave(w)
	p.slots.try([]*server{silent})
	p.slots.release(silent)
	select {
	case s := <-w.got:
		t.Errorf("who waits was given a slot at the silent server %s", s.host)
	default:
	}
	p.slots.release(good)
	select {
	case s := <-w.got:
		if s != good {
			t.Errorf("who waits was given a slot at %s, want the good server %s", s.host, good.host)
		}
	default:
		t.Error("the slot that became free at the good server went to nobody")
	}
}

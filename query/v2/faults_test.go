package v2

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/test/support/costtest"
	"tonscribe/test/support/litetest"
	own "tonscribe/ton/address"
)

// poolOn asks these servers.
func poolOn(t *testing.T, d *litetest.Devnet, servers ...*litetest.Server) *lite.Pool {
	t.Helper()
	c := lite.DefaultConfiguration()
	c.Config = litetest.GlobalConfig(t, d.Zero(), d.Init(), servers...)
	pool, err := lite.New(c, lite.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, pool)
	return pool
}

// lies answers with what is true of something else.
func lies(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
	switch q := r.Query.(type) {
	case ton.GetAccountState:
		other := *q.ID
		q.Account.ID = append([]byte{q.Account.ID[0] ^ 0x40}, q.Account.ID[1:]...)
		q.ID = &other
		r.Query = q
		return honest(ctx, r)
	case ton.GetTransactions, ton.GetBlockData, ton.GetConfigAll, ton.GetBlockHeader, ton.GetAllShardsInfo:
		return damaged(honest(ctx, r))
	}
	return honest(ctx, r)
}

// damaged changes an answer a little.
func damaged(answer any) any {
	flip := func(b []byte) []byte {
		b = append([]byte(nil), b...)
		if len(b) > 0 {
			b[len(b)/2] ^= 1
		}
		return b
	}
	switch a := answer.(type) {
	case ton.TransactionList:
		a.Transactions = flip(a.Transactions)
		return a
	case ton.BlockData:
		a.Payload = flip(a.Payload)
		return a
	case ton.ConfigAll:
		a.ConfigProof = flip(a.ConfigProof)
		return a
	case ton.BlockHeader:
		a.HeaderProof = flip(a.HeaderProof)
		return a
	case ton.AllShardsInfo:
		a.Proof = nil
		return a
	}
	return answer
}

// requests are some about every account and block, all of them different.
func requests(d *litetest.Devnet) []string {
	var list []string
	seen := map[own.Address]bool{}
	for _, bundle := range d.Bundles {
		for _, b := range bundle.Shards {
			list = append(list, "getBlockTransactions?"+blockQuery(b.ID), "getBlockHeader?"+blockQuery(b.ID), "getBlockTransactionsExt?"+blockQuery(b.ID))
			for i := range b.Transactions {
				account := own.New(0, b.Transactions[i].Account[:])
				if seen[account] {
					continue
				}
				seen[account] = true
				at := fmt.Sprintf("address=%s&seqno=%d", account.String(), bundle.Master.ID.SeqNo)
				list = append(list, "getAddressInformation?"+at, "getWalletInformation?"+at, "getTransactions?address="+account.String()+"&limit=3")
			}
		}
		list = append(list, fmt.Sprintf("getShards?seqno=%d", bundle.Master.ID.SeqNo), fmt.Sprintf("getConfigAll?seqno=%d", bundle.Master.ID.SeqNo))
	}
	return list
}

func TestNoServerSpoilsAnAnswer(t *testing.T) {
	d := litetest.NewDevnet(t, 3, 20)
	list := requests(d)
	honest := newService(t, poolOn(t, d, litetest.Listen(t, d.Handle)))
	want := map[string]string{}
	for _, query := range list {
		r := honest.send("GET", Prefix+"/"+query, "")
		if r.status != 200 {
			t.Fatalf("%s: %d %s", query, r.status, r.text)
		}
		want[query] = resultText(t, r)
	}
	liar, stalled, doomed := litetest.NewFaulty(d.Handle), litetest.NewFaulty(d.Handle), litetest.Listen(t, d.Handle)
	s := newService(t, poolOn(t, d, litetest.Listen(t, d.Handle), litetest.Listen(t, liar.Handle), litetest.Listen(t, stalled.Handle), doomed))
	s.get("getMasterchainInfo", "")
	liar.Break(lies)
	stalled.Break(func(context.Context, litetest.Request, litetest.Handler) any { return nil })
	doomed.Stop()

	const clients = 50
	work := make(chan string)
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for query := range work {
				r := s.send("GET", Prefix+"/"+query, "")
				if r.status == 504 {
					continue // told as it is
				}
				if r.status != 200 || resultText(t, r) != want[query] {
					t.Errorf("%s: %d %.300s, want %.300s", query, r.status, r.text, want[query])
				}
			}
		})
	}
	chance := rand.New(rand.NewPCG(4, 5))
	began := time.Now()
	for _, i := range chance.Perm(len(list)) {
		work <- list[i]
	}
	close(work)
	group.Wait()
	t.Logf("%d requests in %s, %d lies", len(list), time.Since(began).Round(time.Millisecond), liar.Count())
	if liar.Count() == 0 {
		t.Error("the liar was not asked")
	}
}

// resultText is an answer without what differs from one time to the next.
func resultText(t *testing.T, r reply) string {
	t.Helper()
	text, err := json.Marshal(r.body["result"])
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// A proof in two steps, of which the first ends at a block with a file hash that no
// block has.
func TestNoBlockOfAProofIsAnInventedOne(t *testing.T) {
	d := litetest.NewDevnet(t, 3, 12)
	server := litetest.NewFaulty(d.Handle)
	s := newService(t, poolOn(t, d, litetest.Listen(t, server.Handle)))
	for _, seqno := range []int{4, 10} {
		s.get("getBlockHeader", fmt.Sprintf("workchain=-1&shard=-9223372036854775808&seqno=%d", seqno))
	}
	const query = "workchain=-1&shard=-9223372036854775808&seqno=4&from_seqno=10"
	between := *d.Master(7).ID
	prove := func(hash []byte) {
		server.BreakFor(func(query any) bool {
			_, ok := query.(ton.GetBlockProof)
			return ok
		}, func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			q := r.Query.(ton.GetBlockProof)
			first := honest(ctx, litetest.Request{Query: ton.GetBlockProof{Mode: 1, KnownBlock: q.KnownBlock, TargetBlock: &between}}).(ton.PartialBlockProof)
			second := honest(ctx, litetest.Request{Query: ton.GetBlockProof{Mode: 1, KnownBlock: &between, TargetBlock: q.TargetBlock}}).(ton.PartialBlockProof)
			to, from := first.Steps[0].(ton.BlockLinkBackward), second.Steps[0].(ton.BlockLinkBackward)
			id := between
			id.FileHash = hash
			to.To, from.From = &id, &id
			first.To, first.Steps = q.TargetBlock, []any{to, from}
			return first
		})
	}
	prove(make([]byte, 32))
	if r := s.send("GET", Prefix+"/getShardBlockProof?"+query, ""); r.status != 504 {
		t.Errorf("%d %.300s, want 504", r.status, r.text)
	}
	prove(between.FileHash)
	if links := at(s.get("getShardBlockProof", query), "mc_proof").([]any); len(links) != 2 {
		t.Errorf("%d links, want the two", len(links))
	}
}

// A proof of a shard block that begins at a masterchain block which nobody signed: it
// names the shards of the right one, or so many that they have no end, or nobody knows it
// because it is after the head.
func TestAShardBlockIsNotProvenByAnInventedMasterchainBlock(t *testing.T) {
	d := litetest.NewDevnet(t, 3, 6)
	bundle := d.Bundles[3]
	for name, c := range map[string]struct {
		shards *cell.Cell
		seqno  uint32
		lies   int32
	}{"the right shards": {nil, 4, 1}, "endless shards": {endlessShards(), 4, 1}, "after the head": {nil, 1 << 30, 2}} {
		first, second := litetest.NewFaulty(d.Handle), litetest.NewFaulty(d.Handle)
		first.Break(honestly)
		second.Break(honestly)
		s := newService(t, poolOn(t, d, litetest.Listen(t, first.Handle), litetest.Listen(t, second.Handle)))
		<-first.Hit() // both can be asked
		<-second.Hit()
		root := invented(t, bundle.Master.Root, c.shards)
		proof, err := cell.CreateMerkleProof(root)
		if err != nil {
			t.Fatal(err)
		}
		var told atomic.Int32 // whoever is asked first lies
		for _, server := range []*litetest.Faulty{first, second} {
			server.BreakFor(func(query any) bool {
				_, ok := query.(ton.GetShardBlockProof)
				return ok && told.Add(1) <= c.lies
			}, func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
				answer := honest(ctx, r).(ton.ShardBlockProof)
				master := *answer.MasterchainID
				master.SeqNo, master.RootHash = c.seqno, root.Hash()
				answer.MasterchainID, answer.Links = &master, []ton.ShardBlockLink{{ID: answer.Links[0].ID, Proof: proof.ToBOC()}}
				return answer
			})
		}
		got := s.get("getShardBlockProof", blockQuery(bundle.Shards[0].ID))
		if hash := at(got, "mc_id.root_hash"); told.Load() <= c.lies || hash != text64(bundle.Master.ID.RootHash) {
			t.Errorf("%s: proven from %v", name, hash)
		}
	}
}

// A shard block that nobody has but the one who was asked for it, although the
// masterchain has another in its place.
func TestAShardBlockThatTheMasterchainDoesNotHaveIsNotFound(t *testing.T) {
	d := litetest.NewDevnet(t, 3, 6)
	server := litetest.NewFaulty(d.Handle)
	s := newService(t, poolOn(t, d, litetest.Listen(t, server.Handle)))
	right := d.Bundles[3].Shards[0]
	shard := fmt.Sprintf("workchain=0&shard=%d", right.ID.Shard)
	for query, root := range map[string]*cell.Cell{
		blockQuery(right.ID):                                 invented(t, right.Root, nil),
		fmt.Sprintf("%s&lt=%d", shard, right.EndLT):          numbered(t, right.Root, 1000),
		fmt.Sprintf("%s&unixtime=%d", shard, right.GenUtime): numbered(t, right.Root, 1000),
	} {
		proof, err := cell.CreateMerkleProof(root)
		if err != nil {
			t.Fatal(err)
		}
		other := *right.ID
		other.SeqNo, other.RootHash = seqnoOf(t, root), root.Hash()
		server.BreakFor(func(query any) bool {
			_, ok := query.(ton.LookupBlock)
			return ok
		}, func(context.Context, litetest.Request, litetest.Handler) any {
			return ton.BlockHeader{ID: &other, HeaderProof: proof.ToBOC()}
		})
		if r := s.send("GET", Prefix+"/lookupBlock?"+query, ""); r.status != 500 || !strings.HasPrefix(fmt.Sprint(r.body["error"]), "LITE_SERVER_NOTREADY") {
			t.Errorf("%s: %d %.300s, want that it is not there", query, r.status, r.text)
		}
		server.Break(nil)
		if got := at(s.get("lookupBlock", query), "root_hash"); got != text64(right.ID.RootHash) {
			t.Errorf("%s: found is %v, want %x", query, got, right.ID.RootHash)
		}
	}
}

// A shard block that is in a masterchain block which only the lite server has yet.
func TestAShardBlockIsFoundBeforeTheMasterchainBlockThatCommitsItIsKnown(t *testing.T) {
	d := litetest.NewDevnet(t, 3, 6)
	server := litetest.NewFaulty(d.Handle)
	s := newService(t, poolOn(t, d, litetest.Listen(t, server.Handle)))
	before, head := d.Bundles[5].Shards[0], d.Master(6).ID
	root := numbered(t, before.Root, before.ID.SeqNo+1)
	proof, err := cell.CreateMerkleProof(root)
	if err != nil {
		t.Fatal(err)
	}
	next, master := *before.ID, *head
	next.SeqNo, next.RootHash = before.ID.SeqNo+1, root.Hash()
	master.SeqNo++
	server.BreakFor(func(query any) bool {
		switch query.(type) {
		case ton.LookupBlock, ton.GetShardBlockProof:
			return true
		}
		return false
	}, func(_ context.Context, r litetest.Request, _ litetest.Handler) any {
		if _, ok := r.Query.(ton.GetShardBlockProof); ok {
			return ton.ShardBlockProof{MasterchainID: &master, Links: []ton.ShardBlockLink{{ID: &next, Proof: proof.ToBOC()}}}
		}
		return ton.BlockHeader{ID: &next, HeaderProof: proof.ToBOC()}
	})
	if got := at(s.get("lookupBlock", blockQuery(&next)), "root_hash"); got != text64(next.RootHash) {
		t.Errorf("found is %v, want %x", got, next.RootHash)
	}
}

// honestly is no fault but for being told of.
func honestly(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
	return honest(ctx, r)
}

// endlessShards are 2^40 shards of the basechain in 40 cells.
func endlessShards() *cell.Cell {
	fees := cell.BeginCell().MustStoreUInt(0, 5+5).EndCell()
	tree := cell.BeginCell().MustStoreUInt(0, 1).MustStoreUInt(0xa, 4).MustStoreSlice(make([]byte, 110), 873).MustStoreRef(fees).EndCell() // shard_descr_new
	for range 40 {
		tree = cell.BeginCell().MustStoreUInt(1, 1).MustStoreRef(tree).MustStoreRef(tree).EndCell()
	}
	return costtest.SharedDictionary(32, 0, cell.BeginCell().MustStoreRef(tree))
}

// invented is a block as one of another network, with other shards of a masterchain
// block unless they are nil.
func invented(t *testing.T, block, shards *cell.Cell) *cell.Cell {
	t.Helper()
	extra := block.MustPeekRef(3)
	if shards != nil {
		extra = withRef(t, extra, 3, withRef(t, extra.MustPeekRef(3), 0, shards))
	}
	return cell.BeginCell().MustStoreUInt(0x11ef55aa, 32).MustStoreInt(-4, 32).
		MustStoreRef(block.MustPeekRef(0)).MustStoreRef(block.MustPeekRef(1)).MustStoreRef(block.MustPeekRef(2)).MustStoreRef(extra).EndCell()
}

func headerOf(t *testing.T, block *cell.Cell) (header tlb.BlockHeader) {
	t.Helper()
	if err := tlb.Parse(&header, block.MustPeekRef(0)); err != nil {
		t.Fatal(err)
	}
	return header
}

func seqnoOf(t *testing.T, block *cell.Cell) uint32 {
	t.Helper()
	header := headerOf(t, block)
	return header.SeqNo
}

// numbered is a block with another seqno.
func numbered(t *testing.T, block *cell.Cell, seqno uint32) *cell.Cell {
	t.Helper()
	header := headerOf(t, block)
	header.SeqNo = seqno
	info, err := tlb.ToCell(header)
	if err != nil {
		t.Fatal(err)
	}
	return withRef(t, block, 0, info)
}

// withRef is a cell with another reference.
func withRef(t *testing.T, c *cell.Cell, i int, other *cell.Cell) *cell.Cell {
	t.Helper()
	bits, data, err := c.MustBeginParse().RestBits()
	if err != nil {
		t.Fatal(err)
	}
	b := cell.BeginCell().MustStoreSlice(data, bits)
	for j := range int(c.RefsNum()) {
		if j == i {
			b.MustStoreRef(other)
		} else {
			b.MustStoreRef(c.MustPeekRef(j))
		}
	}
	return b.EndCell()
}

// A server knows blocks by their hashes alone.
func TestABlockIsNotWhereItsHashesArePut(t *testing.T) {
	d := litetest.NewDevnet(t, 3, 6)
	server := litetest.NewFaulty(d.Handle)
	s := newService(t, poolOn(t, d, litetest.Listen(t, server.Handle)))
	right := d.Bundles[3].Shards[0]
	server.BreakFor(func(query any) bool {
		_, ok := query.(ton.GetBlockData)
		return ok
	}, func(ctx context.Context, _ litetest.Request, honest litetest.Handler) any {
		return honest(ctx, litetest.Request{Query: ton.GetBlockData{ID: right.ID}})
	})
	workchain, shard, seqno := *right.ID, *right.ID, *right.ID
	workchain.Workchain, shard.Shard, seqno.SeqNo = 5, -1<<63, seqno.SeqNo+1
	for _, c := range []struct {
		id     *ton.BlockIDExt
		status int
	}{{right.ID, 200}, {&workchain, 500}, {&shard, 500}, {&seqno, 500}} {
		query := url.Values{"root_hash": {text64(right.ID.RootHash)}, "file_hash": {text64(right.ID.FileHash)}}
		if r := s.send("GET", Prefix+"/getBlockTransactions?"+blockQuery(c.id)+"&"+query.Encode(), ""); r.status != c.status {
			t.Errorf("%s: %d %.300s, want %d", blockQuery(c.id), r.status, r.text, c.status)
		}
	}
}

// A proof of a block that shows nothing of it.
func TestAHeaderThatItsProofDoesNotShowIsNotToldAsZeros(t *testing.T) {
	d := litetest.NewDevnet(t, 3, 5)
	server := litetest.NewFaulty(d.Handle)
	s := newService(t, poolOn(t, d, litetest.Listen(t, server.Handle)))
	s.get("getConfigAll", "")
	server.BreakFor(func(query any) bool {
		_, ok := query.(ton.GetBlockHeader)
		return ok
	}, func(_ context.Context, r litetest.Request, _ litetest.Handler) any {
		id := r.Query.(ton.GetBlockHeader).ID
		builder := cell.NewMerkleProofBuilder(d.Master(id.SeqNo).Root)
		builder.Root().MustBeginParse() // the root, and nothing behind it
		proof, err := builder.CreateProof()
		if err != nil {
			t.Error(err)
			return nil
		}
		return ton.BlockHeader{ID: id, HeaderProof: proof.ToBOC()}
	})
	const query = "workchain=-1&shard=-9223372036854775808&seqno=5"
	if r := s.send("GET", Prefix+"/getBlockHeader?"+query, ""); r.status != 504 {
		t.Errorf("%d %.300s, want 504", r.status, r.text)
	}
	server.Break(nil)
	if got, want := at(s.get("getBlockHeader", query), "gen_utime"), float64(d.Master(5).GenUtime); got != want {
		t.Errorf("the header's time is %v, want %v", got, want)
	}
}

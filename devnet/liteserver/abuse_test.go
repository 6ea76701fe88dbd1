package liteserver

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
	"tonscribe/test/support/costtest"
	"tonscribe/test/support/historytest"
)

// queriesOf are queries of every kind about a block, all of them well-formed.
func queriesOf(id *ton.BlockIDExt, b *chain.Block, count int32, account []byte, lt uint64, hash []byte) []tl.Serializable {
	short := &ton.BlockInfoShort{Workchain: id.Workchain, Shard: id.Shard, Seqno: int32(id.SeqNo)}
	who := ton.AccountID{Workchain: id.Workchain, ID: account}
	var list []tl.Serializable
	for mode := uint32(0); mode < 256; mode = mode*2 + 1 {
		after := &ton.TransactionID3{Account: account, LT: lt}
		list = append(list,
			ton.GetMasterchainInfoExt{Mode: mode}, ton.GetBlockHeader{ID: id, Mode: mode},
			ton.LookupBlock{Mode: mode &^ 6, ID: short}, ton.LookupBlock{Mode: 2, ID: short, LT: lt}, ton.LookupBlock{Mode: 4, ID: short, UTime: b.GenUtime},
			ton.LookupBlockWithProof{Mode: 2, ID: short, MCBlockID: id, LT: lt}, ton.LookupBlockWithProof{Mode: 1, ID: short, MCBlockID: id},
			ton.GetBlockProof{Mode: mode, KnownBlock: id, TargetBlock: id},
			ton.ListBlockTransactions{ID: id, Mode: mode, Count: uint32(count), After: after, ReverseOrder: &ton.True{}, WantProof: &ton.True{}},
			ton.ListBlockTransactionsExt{ID: id, Mode: mode, Count: uint32(count), After: after, ReverseOrder: &ton.True{}, WantProof: &ton.True{}},
			ton.GetConfigAll{Mode: int32(mode), BlockID: id}, ton.GetConfigParams{Mode: int32(mode), BlockID: id, Params: []int32{-1, 0, 34, count}},
			ton.GetLibrariesWithProof{ID: id, Mode: mode, LibraryList: [][]byte{hash}},
			ton.RunSmcMethod{Mode: mode, ID: id, Account: who, MethodID: math.MaxUint64, Params: hash},
			ton.RunSmcMethod{Mode: mode, ID: id, Account: who},
			ton.GetOutMsgQueueSizes{Mode: mode, WC: id.Workchain, Shard: id.Shard}, ton.GetBlockOutMsgQueueSize{Mode: mode, ID: id, WantProof: &ton.True{}},
			ton.GetDispatchQueueInfo{Mode: mode, ID: id, AfterAddr: account, MaxAccounts: count, WantProof: &ton.True{}},
			ton.GetDispatchQueueMessages{Mode: mode, ID: id, Addr: account, MaxMessages: count, WantProof: &ton.True{}, OneAccount: &ton.True{}, MessagesBOC: &ton.True{}},
			ton.GetValidatorStats{Mode: mode, ID: id, Limit: count, StartAfter: account},
		)
	}
	return append(list,
		ton.GetMasterchainInf{}, ton.GetTime{}, ton.GetVersion{}, ton.GetBlockData{ID: id}, ton.GetState{ID: id},
		ton.GetAllShardsInfo{ID: id}, ton.GetShardInfo{ID: id, Workchain: id.Workchain, Shard: id.Shard, Exact: true}, ton.GetShardInfo{ID: id, Shard: int64(lt)},
		ton.GetShardBlockProof{ID: id}, ton.GetAccountState{ID: id, Account: who}, ton.GetAccountStatePruned{ID: id, Account: who},
		ton.GetOneTransaction{ID: id, AccID: &who, LT: int64(lt)}, ton.GetTransactions{Limit: count, AccID: &who, LT: int64(lt), TxHash: hash},
		ton.GetLibraries{LibraryList: [][]byte{hash, account}}, ton.SendMessage{Body: hash}, ton.SendMessage{},
	)
}

// wrongIDs of a block: ids of which there is nothing, and odd ones.
func wrongIDs(id *ton.BlockIDExt) []*ton.BlockIDExt {
	var list []*ton.BlockIDExt
	for _, change := range []func(*ton.BlockIDExt){
		func(*ton.BlockIDExt) {},
		func(id *ton.BlockIDExt) { id.RootHash[0] ^= 1 },
		func(id *ton.BlockIDExt) { id.FileHash[0] ^= 1 },
		func(id *ton.BlockIDExt) { id.SeqNo = 0 },
		func(id *ton.BlockIDExt) { id.SeqNo = math.MaxUint32 },
		func(id *ton.BlockIDExt) { id.Shard = 0 },
		func(id *ton.BlockIDExt) { id.Shard = 1 },
		func(id *ton.BlockIDExt) { id.Shard = math.MaxInt64 },
		func(id *ton.BlockIDExt) { id.Workchain = math.MinInt32 },
		func(id *ton.BlockIDExt) { id.Workchain = ^id.Workchain },
	} {
		wrong := id.Copy()
		change(wrong)
		list = append(list, wrong)
	}
	return list
}

func bodyOf(t testing.TB, query tl.Serializable) []byte {
	t.Helper()
	data, err := tl.Serialize(query, true)
	if err != nil {
		t.Fatalf("%T: %v", query, err)
	}
	body, err := tl.AppendBytes(nil, data)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// abused is the store of a small chain, and the chain.
func abused(t testing.TB) (*history.Store, historytest.Chain) {
	t.Helper()
	alice := newPerson(1)
	d := newDevnet(t, chain.Options{}, alice)
	d.order(alice, 0, to(alice.address, nil, nil))
	master, base := d.chain.Zerostates()
	c := historytest.Chain{Zerostates: []*chain.Zerostate{master, base}}
	for seqno := uint32(1); seqno <= d.store.Last(); seqno++ {
		b, err := d.store.Bundle(seqno)
		if err != nil {
			t.Fatal(err)
		}
		c.Bundles = append(c.Bundles, b)
	}
	return d.store, c
}

// newestTransaction of a chain.
func newestTransaction(t testing.TB, c historytest.Chain) chain.Transaction {
	t.Helper()
	for _, b := range slices.Backward(c.Bundles) {
		for _, block := range blocksOf(b) {
			if n := len(block.Transactions); n > 0 {
				return block.Transactions[n-1]
			}
		}
	}
	t.Fatal("the chain has no transactions")
	return chain.Transaction{}
}

func allQueries(t testing.TB, c historytest.Chain) [][]byte {
	last, tx := c.Bundles[len(c.Bundles)-1], newestTransaction(t, c)
	var list [][]byte
	for _, block := range []*chain.Block{last.Master, last.Shards[0], c.Bundles[2].Master} {
		ids := append(wrongIDs(block.ID), c.Zerostates[0].ID, c.Zerostates[1].ID)
		for _, id := range ids {
			for _, count := range []int32{0, -1, 1, math.MaxInt32} {
				for _, lt := range []uint64{0, tx.LT, math.MaxUint64} {
					for _, query := range queriesOf(id, block, count, tx.Account[:], lt, tx.Hash[:]) {
						list = append(list, bodyOf(t, query))
					}
				}
			}
		}
	}
	return list
}

// unbroken fails when a handler panicked, or its answer cannot be sent.
func unbroken(t testing.TB, c *Component, body []byte) {
	t.Helper()
	answer := c.answer(t.Context(), body)
	if _, err := encode(make([]byte, 32), answer); err != nil {
		t.Fatalf("answer to %x: %v", body, err)
	}
	if failure, ok := answer.(ton.LSError); ok && (failure.Text == "internal error" || failure.Text == "") {
		t.Fatalf("query %x broke its handler: %v", body, failure)
	}
}

func TestWrongIDsAndCountsAreAnswered(t *testing.T) {
	store, c := abused(t)
	server := serve(t, store, refuseAll)
	for _, body := range allQueries(t, c) {
		unbroken(t, server, body)
	}
}

func TestMutatedQueriesAreAnswered(t *testing.T) {
	store, c := abused(t)
	server := serve(t, store, refuseAll, func(c *Configuration) { c.MaxWait = time.Millisecond })
	queries := allQueries(t, c)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		body := append([]byte(nil), queries[random.IntN(len(queries))]...)
		for range 1 + random.IntN(4) {
			switch at := random.IntN(len(body)); random.IntN(4) {
			case 0:
				body[at] ^= 1 << random.IntN(8)
			case 1:
				body[at] = byte(random.IntN(256))
			case 2:
				body = body[:at+1]
			case 3:
				if at+4 <= len(body) {
					binary.LittleEndian.PutUint32(body[at:], random.Uint32())
				}
			}
		}
		unbroken(t, server, body)
	}
}

func FuzzAnswer(f *testing.F) {
	store, c := abused(f)
	server := serve(f, store, refuseAll, func(c *Configuration) { c.MaxWait = time.Millisecond })
	for i, body := range allQueries(f, c) {
		if i%97 == 0 {
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		costtest.Check(t, func() { unbroken(t, server, body) })
	})
}

func TestAnUnknownQueryIsAnErrorAndTheConnectionStays(t *testing.T) {
	store, _ := abused(t)
	client := connect(t, serve(t, store, refuseAll), ton.ProofCheckPolicyFast)
	for _, query := range []tl.Raw{{}, {1, 2, 3, 4}, make([]byte, 1000), append(tl.Raw{}, bodyOf(t, ton.GetTime{})...)} {
		var answer tl.Serializable
		if err := client.Client().QueryLiteserver(t.Context(), query, &answer); err != nil {
			t.Fatalf("query %x: %v", query, err)
		}
		if failure, ok := answer.(ton.LSError); !ok || failure.Code != codeProtoViolation {
			t.Errorf("query %x: got %v, want code %d", query, answer, codeProtoViolation)
		}
	}
	if _, err := client.GetTime(t.Context()); err != nil {
		t.Errorf("after them: %v", err)
	}
}

func TestGarbageOnTheWireHarmsNobodyElse(t *testing.T) {
	store, _ := abused(t)
	server := serve(t, store, refuseAll)
	client := connect(t, server, ton.ProofCheckPolicyFast)
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		conn, err := net.Dial("tcp4", server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		junk := make([]byte, 256+random.IntN(2000))
		for i := range junk {
			junk[i] = byte(random.Uint32())
		}
		if _, err := conn.Write(junk); err != nil {
			t.Fatal(err)
		}
		// The server lets go at once: a read ends.
		if _, err := conn.Read(junk); err == nil {
			t.Error("garbage was answered")
		}
		conn.Close()
	}
	if _, err := client.GetTime(t.Context()); err != nil {
		t.Errorf("another client: %v", err)
	}
}

func TestManyClientsAreServedAtOnce(t *testing.T) {
	store, c := abused(t)
	server := serve(t, store, refuseAll)
	last := c.Bundles[len(c.Bundles)-1].Master.ID
	var clients sync.WaitGroup
	for range 50 {
		clients.Go(func() {
			client := connect(t, server, ton.ProofCheckPolicyFast)
			for range 10 {
				if _, err := client.GetBlockShardsInfo(t.Context(), last); err != nil {
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
}

func TestQueriesOfOneConnectionAreBounded(t *testing.T) {
	store, c := abused(t)
	server := serve(t, store, refuseAll, func(c *Configuration) { c.Queries = 2 })
	pool := liteclient.NewConnectionPool()
	t.Cleanup(pool.Stop)
	key := testKey.Public().(ed25519.PublicKey)
	if err := pool.AddConnection(t.Context(), server.Addr().String(), encoded(key)); err != nil {
		t.Fatal(err)
	}
	waiting, cancel := context.WithCancel(t.Context())
	next := int32(len(c.Bundles) + 1)
	prefix, err := tl.Serialize(ton.WaitMasterchainSeqno{Seqno: next, Timeout: math.MaxInt32}, true)
	if err != nil {
		t.Fatal(err)
	}
	query, err := tl.Serialize(ton.GetTime{}, true)
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan struct{}, 3)
	var asked sync.WaitGroup
	for range 3 {
		asked.Go(func() {
			var answer tl.Serializable
			if err := pool.QueryLiteserver(waiting, tl.Raw(append(append([]byte{}, prefix...), query...)), &answer); err != nil {
				return
			}
			if failure, ok := answer.(ton.LSError); ok && failure.Code == codeError {
				refused <- struct{}{}
			}
		})
	}
	<-refused
	cancel()
	asked.Wait()
}

func TestAConnectionTooManyIsClosed(t *testing.T) {
	store, _ := abused(t)
	server := serve(t, store, refuseAll, func(c *Configuration) { c.Connections = 1 })
	client := connect(t, server, ton.ProofCheckPolicyFast)
	conn, err := net.Dial("tcp4", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the second connection: got bytes, want its end")
	}
	if _, err := client.GetTime(t.Context()); err != nil {
		t.Errorf("the first connection: %v", err)
	}
}

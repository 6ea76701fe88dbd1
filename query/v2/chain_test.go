package v2

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
	"tonscribe/devnet/liteserver"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/query/node"
	"tonscribe/test/support/historytest"
	"tonscribe/test/support/litetest"
)

// realChain is the beginning of the main network, a lite server on it, and the
// API that asks it. The chain's files have no signatures, so that its head is
// believed.
type realChain struct {
	*service
	historytest.Chain
}

func newRealChain(t *testing.T) *realChain {
	t.Helper()
	loaded := historytest.Load(t)
	store := litetest.NewStore(t, history.Options{Recent: len(loaded.Bundles)}, loaded.Zerostates...)
	for _, b := range loaded.Bundles {
		if err := store.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(*cell.Cell) error {
		return ton.LSError{Code: 0, Text: "cannot apply external message to current state : no"}
	}
	return &realChain{service: newService(t, newPool(t, store, refuse, lite.Off), withTON), Chain: loaded}
}

func withTON(c *Configuration) { c.TypeNamespace = "ton" }

// newPool serves a store and asks it.
func newPool(t *testing.T, store *history.Store, send func(*cell.Cell) error, proofs lite.Proofs) *lite.Pool {
	t.Helper()
	server := litetest.Serve(t, liteserver.Dependencies{History: store, Send: send, Now: func() uint32 { return 1_600_000_000 }})
	global, err := server.GlobalConfig()
	if err != nil {
		t.Fatal(err)
	}
	c := lite.DefaultConfiguration()
	c.Inline, c.Proofs = global, proofs
	pool, err := lite.New(c, lite.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, pool)
	return pool
}

// get asks by GET and expects success.
func (s *service) get(name, query string) any {
	s.t.Helper()
	r := s.send("GET", Prefix+"/"+name+"?"+query, "")
	if r.status != 200 {
		s.t.Fatalf("%s?%s: %d %s", name, query, r.status, r.text)
	}
	return r.body["result"]
}

func text64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// isBlock compares a block in an answer.
func (s *service) isBlock(what string, got any, want *ton.BlockIDExt) {
	s.t.Helper()
	for key, value := range map[string]any{
		"@type": "ton.blockIdExt", "workchain": float64(want.Workchain), "shard": strconv.FormatInt(want.Shard, 10),
		"seqno": float64(want.SeqNo), "root_hash": text64(want.RootHash), "file_hash": text64(want.FileHash),
	} {
		if at(got, key) != value {
			s.t.Errorf("%s: %s is %v, want %v", what, key, at(got, key), value)
		}
	}
}

func (c *realChain) last() *chain.Bundle { return c.Bundles[len(c.Bundles)-1] }

func blockQuery(id *ton.BlockIDExt) string {
	return fmt.Sprintf("workchain=%d&shard=%d&seqno=%d", id.Workchain, id.Shard, id.SeqNo)
}

func TestMasterchainInfoIsThatOfTheNewestBlock(t *testing.T) {
	c := newRealChain(t)
	info := c.get("getMasterchainInfo", "")
	c.isBlock("last", at(info, "last"), c.last().Master.ID)
	if got, want := at(info, "state_root_hash"), text64(c.last().Master.State.Hash()); got != want {
		t.Errorf("state_root_hash is %v, want %s", got, want)
	}
	zero := *c.Zerostates[0].ID
	zero.Workchain, zero.Shard, zero.SeqNo = -1, 0, 0
	c.isBlock("init", at(info, "init"), &zero)
	if got := at(c.get("getConsensusBlock", ""), "consensus_block"); got != float64(c.last().Master.ID.SeqNo) {
		t.Errorf("consensus_block is %v, want %d", got, c.last().Master.ID.SeqNo)
	}
}

func TestBlocksAreFoundByEachOfThreeWays(t *testing.T) {
	c := newRealChain(t)
	for i, bundle := range c.Bundles {
		if i%7 != 0 {
			continue
		}
		for _, b := range append([]*chain.Block{bundle.Master}, bundle.Shards...) {
			shard := fmt.Sprintf("workchain=%d&shard=%d", b.ID.Workchain, b.ID.Shard)
			c.isBlock("seqno", c.get("lookupBlock", blockQuery(b.ID)), b.ID)
			c.isBlock("lt", c.get("lookupBlock", fmt.Sprintf("%s&lt=%d", shard, b.EndLT)), b.ID)
			header := c.get("getBlockHeader", blockQuery(b.ID))
			c.isBlock("header", at(header, "id"), b.ID)
			for key, want := range map[string]any{
				"@type": "blocks.header", "global_id": float64(-239), "start_lt": strconv.FormatUint(b.StartLT, 10),
				"end_lt": strconv.FormatUint(b.EndLT, 10), "gen_utime": float64(b.GenUtime),
			} {
				if got := at(header, key); got != want {
					t.Errorf("header of %v: %s is %v, want %v", b.ID, key, got, want)
				}
			}
		}
		shards := at(c.get("getShards", fmt.Sprintf("seqno=%d", bundle.Master.ID.SeqNo)), "shards").([]any)
		if got := len(historytest.Tops(t, bundle.Master.Root)); got != len(shards) {
			t.Errorf("block %d: %d shards, want %d", bundle.Master.ID.SeqNo, len(shards), got)
		}
	}
}

func TestBlocksBeyondTheHeadAreAnError(t *testing.T) {
	c := newRealChain(t)
	beyond := c.last().Master.ID.SeqNo + 10000
	text := fmt.Sprintf("LITE_SERVER_NOTREADY: seqno not in db (last known masterchain block: %d)", c.last().Master.ID.SeqNo)
	for _, query := range []string{
		"getAddressInformation?address=" + someAddress + "&seqno=%d", "getMasterchainBlockSignatures?seqno=%d", "getShards?seqno=%d",
		"getShardBlockProof?workchain=-1&shard=-9223372036854775808&seqno=%d", "getBlockHeader?workchain=-1&shard=-9223372036854775808&seqno=%d",
		"getBlockTransactions?workchain=-1&shard=-9223372036854775808&seqno=%d", "getTokenData?address=" + someAddress + "&seqno=%d",
	} {
		c.send("GET", Prefix+"/"+fmt.Sprintf(query, beyond), "").refusal(t, query, 500, text)
	}
}

func TestTransactionsOfABlockArePaged(t *testing.T) {
	c := newRealChain(t)
	for i, bundle := range c.Bundles {
		if i%11 != 0 {
			continue
		}
		b := bundle.Master
		var got []any
		after := ""
		for page := 0; ; page++ {
			list := c.get("getBlockTransactions", blockQuery(b.ID)+"&count=3"+after)
			some := at(list, "transactions").([]any)
			got = append(got, some...)
			if at(list, "incomplete") != true {
				break
			}
			last := some[len(some)-1]
			after = fmt.Sprintf("&after_lt=%v&after_hash=%v", at(last, "lt"), at(last, "account"))
		}
		whole := at(c.get("getBlockTransactionsExt", blockQuery(b.ID)), "transactions").([]any)
		if len(got) != len(b.Transactions) || len(whole) != len(b.Transactions) {
			t.Fatalf("block %d: %d short and %d whole transactions, want %d", b.ID.SeqNo, len(got), len(whole), len(b.Transactions))
		}
		byAccount := slices.Clone(b.Transactions)
		slices.SortFunc(byAccount, func(x, y chain.Transaction) int {
			return cmp.Or(bytes.Compare(x.Account[:], y.Account[:]), cmp.Compare(x.LT, y.LT))
		})
		for j := range byAccount {
			want := &byAccount[j]
			if at(got[j], "hash") != text64(want.Hash[:]) || at(got[j], "lt") != strconv.FormatUint(want.LT, 10) || at(got[j], "mode") != float64(135) {
				t.Errorf("block %d transaction %d: %v, want %x at %d", b.ID.SeqNo, j, got[j], want.Hash, want.LT)
			}
			if at(whole[j], "transaction_id.hash") != text64(want.Hash[:]) || at(whole[j], "@type") != "raw.transactionExt" {
				t.Errorf("block %d transaction %d: %v, want %x", b.ID.SeqNo, j, whole[j], want.Hash)
			}
		}
	}
}

// elector is the account of the main network with a get-method and transactions
// in every block.
const elector = "-1:3333333333333333333333333333333333333333333333333333333333333333"

func TestHistoryIsPagedToTheFirstTransaction(t *testing.T) {
	c := newRealChain(t)
	want := 0
	for _, b := range c.Bundles {
		for i := range b.Master.Transactions {
			if hex.EncodeToString(b.Master.Transactions[i].Account[:]) == elector[3:] {
				want++
			}
		}
	}
	var hashes []any
	cursor := ""
	for {
		list := c.get("getTransactionsStd", "address="+elector+"&limit=37"+cursor)
		for _, tx := range at(list, "transactions").([]any) {
			hashes = append(hashes, at(tx, "transaction_id.hash"))
		}
		previous := at(list, "previous_transaction_id")
		if at(previous, "lt") == "0" {
			break
		}
		hash, err := base64.StdEncoding.DecodeString(at(previous, "hash").(string))
		if err != nil {
			t.Fatal(err)
		}
		cursor = fmt.Sprintf("&lt=%v&hash=%x", at(previous, "lt"), hash)
	}
	if len(hashes) != want {
		t.Fatalf("%d transactions, want %d", len(hashes), want)
	}
	flat := c.get("getTransactions", "address="+elector+"&limit=1000").([]any)
	if len(flat) != want {
		t.Fatalf("getTransactions: %d, want %d", len(flat), want)
	}
	for i := range flat {
		if at(flat[i], "transaction_id.hash") != hashes[i] || at(flat[i], "@type") != "ext.transaction" {
			t.Fatalf("transaction %d is %v in one list and %v in the other", i, at(flat[i], "transaction_id"), hashes[i])
		}
	}
	bound := at(flat[5], "transaction_id.lt")
	if got := c.get("getTransactions", fmt.Sprintf("address=%s&to_lt=%v", elector, bound)).([]any); len(got) != 5 {
		t.Errorf("%d transactions after the sixth, want 5", len(got))
	}
	if got := c.get("getTransactions", "address="+someAddress).([]any); len(got) != 0 {
		t.Errorf("an account without transactions: %v", got)
	}
}

func TestAccountsAreReadAtEveryBlock(t *testing.T) {
	c := newRealChain(t)
	info := c.get("getAddressInformation", "address="+elector)
	if at(info, "state") != "active" || at(info, "code") == "" || at(info, "suspended") != false {
		t.Errorf("the elector: %v", info)
	}
	c.isBlock("block_id", at(info, "block_id"), c.last().Master.ID)
	if got := at(info, "sync_utime"); got != float64(c.last().Master.GenUtime) {
		t.Errorf("sync_utime is %v, want %d", got, c.last().Master.GenUtime)
	}
	early := c.Bundles[9].Master
	then := c.get("getExtendedAddressInformation", fmt.Sprintf("address=%s&seqno=%d", elector, early.ID.SeqNo))
	c.isBlock("block_id", at(then, "block_id"), early.ID)
	if at(then, "account_state.@type") != "raw.accountState" || at(then, "last_transaction_id.lt") == at(info, "last_transaction_id.lt") {
		t.Errorf("the elector at block %d: %v", early.ID.SeqNo, then)
	}
	none := c.get("getAddressInformation", "address="+someAddress)
	for key, want := range map[string]any{
		"balance": "0", "code": "", "data": "", "frozen_hash": "", "state": "uninitialized", "last_transaction_id.lt": "0",
		"last_transaction_id.hash": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
	} {
		if got := at(none, key); got != want {
			t.Errorf("an account that does not exist: %s is %v, want %v", key, got, want)
		}
	}
	if got := at(c.get("getWalletInformation", "address="+someAddress), "wallet"); got != false {
		t.Errorf("an account that does not exist is a wallet: %v", got)
	}
	if got := c.get("getAddressState", "address="+elector); got != "active" {
		t.Errorf("state of the elector is %v, want active", got)
	}
	odd := c.get("getAddressInformation", "address=5:"+elector[3:])
	if at(odd, "state") != "uninitialized" || at(odd, "balance") != "0" {
		t.Errorf("an account of a workchain that does not exist: %v", odd)
	}
}

func TestGetMethodsRunOnTheProvenState(t *testing.T) {
	c := newRealChain(t)
	run := func(name, body string) any {
		t.Helper()
		r := c.send("POST", Prefix+"/"+name, body)
		if r.status != 200 {
			t.Fatalf("%s %s: %d %s", name, body, r.status, r.text)
		}
		return r.body["result"]
	}
	legacy := run("runGetMethod", `{"address":"`+elector+`","method":"active_election_id","stack":[]}`)
	if at(legacy, "exit_code") != float64(0) || at(legacy, "stack.0.0") != "num" || at(legacy, "@type") != "smc.runResult" {
		t.Errorf("active_election_id: %v", legacy)
	}
	c.isBlock("block_id", at(legacy, "block_id"), c.last().Master.ID)
	std := run("runGetMethodStd", `{"address":"`+elector+`","method":86535,"stack":[]}`) // crc16 of the same name
	if at(std, "exit_code") != float64(0) || at(std, "stack.0.@type") != "tvm.stackEntryNumber" {
		t.Errorf("active_election_id by number: %v", std)
	}
	unknown := run("runGetMethod", `{"address":"`+elector+`","method":"nothing","stack":[]}`)
	if at(unknown, "exit_code") == float64(0) { // code of 2019 has no exit code of its own for this
		t.Errorf("a method that is not there: %v", unknown)
	}
	none := run("runGetMethod", `{"address":"`+someAddress+`","method":"seqno","stack":[["num","7"]]}`)
	if at(none, "exit_code") != float64(-13) || at(none, "gas_used") != float64(0) || at(none, "stack.0.1") != "0x7" || at(none, "stack.1.1") != "0x14c97" {
		t.Errorf("an account without code: %v", none)
	}
}

func TestConfigurationAndItsParameters(t *testing.T) {
	c := newRealChain(t)
	all := c.get("getConfigAll", "")
	root := fromBase64(t, at(all, "config.bytes"))
	for _, name := range []string{"param", "config_id"} {
		one := fromBase64(t, at(c.get("getConfigParam", name+"=15"), "config.bytes"))
		value, err := root.AsDict(32).LoadValue(cell.BeginCell().MustStoreUInt(15, 32).EndCell())
		if err != nil {
			t.Fatal(err)
		}
		if want, err := value.LoadRefCell(); err != nil || one.HashKey() != want.HashKey() {
			t.Errorf("%s 15 is %x, want %x (%v)", name, one.Hash(), want.Hash(), err)
		}
	}
	if got := at(c.get("getConfigParam", "param=99999"), "config.bytes"); got != "" {
		t.Errorf("a parameter that is not there: %v", got)
	}
	early := c.get("getConfigAll", "seqno=5")
	if at(early, "@type") != "configInfo" {
		t.Errorf("configuration at block 5: %v", early)
	}
	if got := at(c.get("getLibraries", "libraries="+someHash), "result").([]any); len(got) != 0 {
		t.Errorf("a library that is not there: %v", got)
	}
}

func TestShardBlocksAreProven(t *testing.T) {
	c := newRealChain(t)
	for i, bundle := range c.Bundles {
		if i%13 != 0 || len(bundle.Shards) == 0 {
			continue
		}
		for _, b := range bundle.Shards {
			proof := c.get("getShardBlockProof", blockQuery(b.ID))
			c.isBlock("from", at(proof, "from"), c.last().Master.ID)
			c.isBlock("mc_id", at(proof, "mc_id"), bundle.Master.ID)
			links := at(proof, "links").([]any)
			c.isBlock("last link", at(links[len(links)-1], "id"), b.ID)
			if back := at(proof, "mc_proof").([]any); bundle != c.last() && (len(back) == 0 || at(back[0], "proof") == "") {
				t.Errorf("%v: no proof in the masterchain: %v", b.ID, back)
			}
		}
	}
	own := c.get("getShardBlockProof", "workchain=-1&shard=-9223372036854775808&seqno=10&from_seqno=20")
	if at(own, "from.seqno") != float64(20) || at(own, "mc_id.seqno") != float64(10) || len(at(own, "links").([]any)) != 0 {
		t.Errorf("a masterchain block: %v", own)
	}
	c.send("GET", Prefix+"/getShardBlockProof?workchain=-1&shard=-9223372036854775808&seqno=20&from_seqno=10", "").
		refusal(t, "backwards", 500, "from mc block is too old")
}

func TestMessagesAreLocated(t *testing.T) {
	c := newRealChain(t)
	located := 0
	for _, bundle := range c.Bundles {
		for i := range bundle.Master.Transactions {
			tx, err := node.ParseTransaction(-1, bundle.Master.Transactions[i].Cell)
			if err != nil {
				t.Fatal(err)
			}
			if located >= 5 || tx.In == nil || tx.In.Source == nil || tx.In.CreatedLT == 0 || [32]byte(tx.In.Source.ID()) == [32]byte{} {
				continue
			}
			query := fmt.Sprintf("source=%s&destination=%s&created_lt=%d", tx.In.Source, tx.In.Destination, tx.In.CreatedLT)
			for _, name := range []string{"tryLocateTx", "tryLocateResultTx"} {
				if got := c.get(name, query); at(got, "transaction_id.hash") != text64(tx.ID.Hash[:]) {
					t.Errorf("%s?%s: %v, want %x", name, query, at(got, "transaction_id"), tx.ID.Hash)
				}
			}
			source := c.get("tryLocateSourceTx", query)
			sent := at(source, "out_msgs").([]any)
			if !slices.ContainsFunc(sent, func(m any) bool { return at(m, "created_lt") == strconv.FormatUint(tx.In.CreatedLT, 10) }) {
				t.Errorf("tryLocateSourceTx?%s: %v", query, source)
			}
			located++
		}
	}
	t.Logf("%d messages", located)
	c.send("GET", Prefix+"/tryLocateTx?created_lt=1&source="+someAddress+"&destination="+elector, "").
		refusal(t, "no such message", 404, "transaction was not found")
}

func TestQueueSizesAreShown(t *testing.T) {
	c := newRealChain(t)
	sizes := c.get("getOutMsgQueueSize", "")
	if at(sizes, "@type") != "blocks.outMsgQueueSizes" || len(at(sizes, "shards").([]any)) < 2 {
		t.Errorf("queues: %v", sizes)
	}
}

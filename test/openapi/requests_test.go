package openapi

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"net/url"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet"
	"tonscribe/devnet/contracts"
)

// exampleRequests are the requests of examples that need more than their
// required parameters.
func (s *server) exampleRequests(t *testing.T, f facts) map[string]map[string]any {
	t.Helper()
	owner := f.first(t, "address")
	wallet := devnet.OwnerOf(seed, 0).Address(0).String() // has sent something
	fresh := devnet.OwnerOf(seed, 1).Address(0).String()
	_, body := transfer(t, 1)
	message := func(owner int) map[string]any {
		boc, _ := transfer(t, owner)
		return map[string]any{"boc": boc}
	}
	cellOf := func(owner int) any {
		boc, _ := transfer(t, owner)
		return spelt(t, boc)
	}
	bodyOf := func(owner int) string {
		_, body := transfer(t, owner)
		return body
	}
	located := map[string]any{"source": wallet, "destination": f.first(t, "jetton"), "created_lt": text(at(s.firstSent(t, wallet), "created_lt"))}
	minted := s.firstSent(t, f.first(t, "jetton")) // smaller than what the owner sent
	sentByJetton := map[string]any{"source": text(at(minted, "source")), "destination": text(at(minted, "destination")), "created_lt": text(at(minted, "created_lt"))}
	block := map[string]any{"workchain": -1, "shard": "-9223372036854775808", "seqno": 2}
	busy := map[string]any{"workchain": -1, "shard": "-9223372036854775808", "seqno": 2, "count": 2}
	root := "-1:" + s.dnsRoot(t)
	return map[string]map[string]any{
		"v2/detectAddress":                 {"address": owner},
		"v2/detectHash":                    {"hash": f.first(t, "transaction hash")},
		"v2/dnsResolve":                    {"address": root, "name": "ton", "ttl": 0},
		"v2/estimateFee":                   {"address": fresh, "body": body, "ignore_chksig": true},
		"v2/estimateFeeSimple":             {"address": fresh, "body": spelt(t, body), "ignore_chksig": true},
		"v2/getAddressInformation":         {"address": owner},
		"v2/getBlockHeader":                block,
		"v2/getBlockTransactions":          busy,
		"v2/getBlockTransactionsExt":       busy,
		"v2/getConfigParam":                {"config_id": 20},
		"v2/getLibraries":                  {"libraries": []string{f.first(t, "transaction hash")}},
		"v2/getMasterchainBlockSignatures": {"seqno": 2},
		"v2/getShardBlockProof":            {"workchain": 0, "shard": "-9223372036854775808", "seqno": 1},
		"v2/getShards":                     {"seqno": 2},
		"v2/shards":                        {"seqno": 2},
		"v2/getTokenData":                  {"address": f.first(t, "jetton")},
		"v2/getTransactions":               {"address": wallet, "limit": 1},
		"v2/getTransactionsStd":            {"address": wallet, "limit": 1},
		"v2/jsonRPC":                       {"method": "getMasterchainInfo", "params": map[string]any{}, "id": "1", "jsonrpc": "2.0"},
		"v2/lookupBlock":                   block,
		"v2/packAddress":                   {"address": f["address"][len(f["address"])-1]},
		"v2/unpackAddress":                 {"address": owner},
		"v2/runGetMethod":                  {"address": wallet, "method": "seqno", "stack": []any{}},
		"v2/runGetMethodStd":               {"address": f.first(t, "jetton"), "method": "get_jetton_data", "stack": []any{}},
		"v2/sendBoc":                       message(2),
		"v2/sendBocReturnHash":             message(3),
		"v2/sendBocReturnHashNoError":      message(4),
		"v2/sendBocUnsafe":                 message(5),
		"v2/sendCellSimple":                {"cell": cellOf(6)},
		"v2/sendQuery":                     {"address": devnet.OwnerOf(seed, 7).Address(0).String(), "body": bodyOf(7)},
		"v2/sendQuerySimple":               {"address": devnet.OwnerOf(seed, 8).Address(0).String(), "body": spelt(t, bodyOf(8))},
		"v2/tryLocateTx":                   located,
		"v2/tryLocateResultTx":             located,
		"v2/tryLocateSourceTx":             sentByJetton,

		"v3/addressBook":                    {"address": []string{owner}},
		"v3/adjacentTransactions":           {"hash": f.first(t, "producer"), "direction": "in"},
		"v3/blocks":                         {"workchain": -1, "limit": 1},
		"v3/decode":                         {"opcodes": []string{"0x0f8a7ea5", "0xdeadbeef"}, "bodies": []string{comment("hello!")}},
		"v3/estimateFee":                    {"address": fresh, "body": body, "ignore_chksig": true},
		"v3/masterchainBlockShards":         {"seqno": 2, "limit": 2},
		"v3/masterchainBlockShardState":     {"seqno": s.quietBlock(t)},
		"v3/walletInformation":              {"address": wallet},
		"v3/account":                        {"address": wallet},
		"v3/wallet":                         {"address": wallet},
		"v3/metadata":                       {"address": []string{f.first(t, "jetton")}},
		"v3/message":                        message(9),
		"v3/pendingActions":                 {"ext_msg_hash": []string{messageHash(t, comers["v3/pendingActions"])}},
		"v3/pendingTraces":                  {"ext_msg_hash": []string{messageHash(t, comers["v3/pendingTraces"])}},
		"v3/pendingTransactions":            {"account": []string{devnet.OwnerOf(seed, comers["v3/pendingTransactions"]).Address(0).String()}},
		"v3/multisig/orders":                {"multisig_address": f["multisig/wallets"], "limit": 1},
		"v3/messages":                       {"destination": wallet, "exclude_externals": true, "limit": 1},
		"v3/runGetMethod":                   {"address": wallet, "method": "seqno", "stack": []any{}},
		"v3/actions":                        {"action_type": []string{"jetton_transfer"}, "limit": 1},
		"v3/balanceChanges":                 {"action_id": text(at(s.get(t, "/api/v3/actions?action_type=jetton_transfer&limit=1"), "actions", 0, "action_id"))},
		"v3/events":                         {"limit": 1},
		"v3/traces":                         {"limit": 1},
		"v3/transactions":                   {"account": []string{wallet}, "limit": 1},
		"v3/transactionsByMasterchainBlock": {"seqno": 2, "limit": 1},
		"v3/transactionsByMessage":          {"msg_hash": []string{f.first(t, "message hash")}},
	}
}

// comers are the owners whose messages are examples of what is to come.
var comers = map[string]int{"v3/pendingActions": 10, "v3/pendingTraces": 11, "v3/pendingTransactions": 12}

func messageHash(t *testing.T, owner int) string {
	t.Helper()
	boc, _ := transfer(t, owner)
	data, err := base64.StdEncoding.DecodeString(boc)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cell.FromBOC(data)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(c.Hash())
}

// foresee sends the message of an owner and waits until it is pending: some time before
// the block that has it, unless the machine is busy. Then it is false.
func (s *server) foresee(t *testing.T, owner int) bool {
	t.Helper()
	boc, _ := transfer(t, owner)
	if r := s.send(t, http.MethodPost, "/api/v2/sendBoc", "application/json", `{"boc":"`+boc+`"}`); r.Status != http.StatusOK {
		t.Errorf("sendBoc: %d %s", r.Status, r.Text)
		return false
	}
	message := url.QueryEscape(messageHash(t, owner))
	for {
		if list, _ := at(s.get(t, "/api/v3/pendingTraces?ext_msg_hash="+message), "traces").([]any); len(list) > 0 {
			return true
		}
		if list, _ := at(s.get(t, "/api/v3/traces?msg_hash="+message), "traces").([]any); len(list) > 0 {
			return false
		}
	}
}

// comment is the body of a message with a text.
func comment(text string) string {
	return base64.StdEncoding.EncodeToString(contracts.CommentBody(text).ToBOC())
}

// quietBlock is the masterchain block with the shortest answer of some.
func (s *server) quietBlock(t *testing.T) (quiet int) {
	t.Helper()
	shortest := math.MaxInt
	for seqno := 2; seqno < 5; seqno++ {
		if r := s.send(t, http.MethodGet, fmt.Sprintf("/api/v3/masterchainBlockShardState?seqno=%d", seqno), "", ""); len(r.Text) < shortest {
			quiet, shortest = seqno, len(r.Text)
		}
	}
	return quiet
}

// dnsRoot is the contract that configuration parameter 4 names.
func (s *server) dnsRoot(t *testing.T) string {
	t.Helper()
	answer := s.get(t, "/api/v2/getConfigParam?config_id=4")
	boc, err := base64.StdEncoding.DecodeString(text(at(answer, "result", "config", "bytes")))
	if err != nil {
		t.Fatal(err)
	}
	c, err := cell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	id := new(big.Int).SetBytes(c.MustBeginParse().MustLoadSlice(256))
	return id.Text(16)
}

// firstSent is an account's first message. Those of the first owner and of the
// owners' jetton have the same logical times on every devnet, whenever it began
// and whatever its traffic is.
func (s *server) firstSent(t *testing.T, account string) any {
	t.Helper()
	page := s.get(t, "/api/v3/transactions?sort=asc&limit=1&account="+url.QueryEscape(account))
	return at(page, "transactions", 0, "out_msgs", 0)
}

// transfer is an owner's first message, and its body.
func transfer(t *testing.T, owner int) (message, body string) {
	t.Helper()
	from := devnet.OwnerOf(seed, owner)
	to := devnet.OwnerOf(seed, 1).Address(0)
	c, err := from.External(0, from.Key, contracts.Order{
		ValidUntil: math.MaxUint32, // an example is good for ever
		Messages:   []contracts.Message{{To: to, Value: big.NewInt(100_000_000), Mode: contracts.ModePayFees}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var parsed tlb.Message
	if err := tlb.Parse(&parsed, c); err != nil {
		t.Fatal(err)
	}
	encode := base64.StdEncoding.EncodeToString
	return encode(c.ToBOC()), encode(parsed.AsExternalIn().Body.ToBOC())
}

// spelt is a bag of cells as the methods take it that want no bag.
func spelt(t *testing.T, boc string) any {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(boc)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cell.FromBOC(data)
	if err != nil {
		t.Fatal(err)
	}
	return speltCell(c)
}

func speltCell(c *cell.Cell) map[string]any {
	bits, data, err := c.MustBeginParse().RestBits()
	if err != nil {
		panic(err)
	}
	refs := []any{}
	for i := range c.RefsNum() {
		refs = append(refs, speltCell(c.MustPeekRef(int(i))))
	}
	return map[string]any{"data": map[string]any{"b64": data, "len": bits}, "refs": refs}
}

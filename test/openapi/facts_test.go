package openapi

import (
	"net/url"
	"strings"
	"testing"

	"tonscribe/devnet"
	"tonscribe/test/support/harness"
)

// facts are values that the chain knows, by what they are.
type facts map[string][]string

func (f facts) add(kind string, values ...any) {
	for _, v := range values {
		if s := text(v); s != "" {
			f[kind] = append(f[kind], s)
		}
	}
}

// first is one value; the test needs it to be there.
func (f facts) first(t testing.TB, kind string) string {
	t.Helper()
	if len(f[kind]) == 0 {
		t.Fatalf("the devnet has no %s", kind)
	}
	return f[kind][0]
}

const seed = 1

// learn asks the API for what is on the chain.
func (s *server) learn(t *testing.T) facts {
	t.Helper()
	f := facts{}
	s.learnTokens(t, f)
	for i := range 3 {
		f.add("address", devnet.OwnerOf(seed, i).Address(0).String())
	}
	info := s.get(t, "/api/v2/getMasterchainInfo")
	f.add("seqno", at(info, "result", "last", "seqno"), 1, 2, 20)
	for _, block := range at(s.get(t, "/api/v3/blocks?workchain=0&limit=5&sort=desc"), "blocks").([]any) {
		f.add("block seqno", at(block, "seqno"))
		f.add("root hash", at(block, "root_hash"))
		f.add("file hash", at(block, "file_hash"))
		f.add("shard", at(block, "shard"))
		f.add("lt", at(block, "end_lt"))
		f.add("utime", at(block, "gen_utime"))
	}
	for _, tx := range at(s.get(t, "/api/v3/transactions?limit=100&sort=desc&workchain=0"), "transactions").([]any) {
		f.learnTransaction(tx)
	}
	for path, list := range map[string]string{
		"jetton/wallets": "jetton_wallets", "nft/items": "nft_items", "multisig/wallets": "multisigs", "multisig/orders": "orders", "vesting": "vesting_contracts", "dns/records": "records",
	} {
		rows, _ := at(s.get(t, "/api/v3/"+path+"?limit=10"), list).([]any)
		for _, row := range rows {
			f.add("address", at(row, "address"), at(row, "owner"), at(row, "owner_address"))
			f.add(path, at(row, "address"), at(row, "nft_item_address"))
			f.add("index", at(row, "index"), at(row, "order_seqno"))
			f.add("domain", at(row, "domain"))
		}
	}
	page := s.get(t, "/api/v3/transactions?limit=2")
	f.add("cursor", at(page, "next_cursor"))
	return f
}

func (f facts) learnTransaction(tx any) {
	f.add("address", at(tx, "account"))
	f.add("transaction hash", at(tx, "hash"))
	f.add("lt", at(tx, "lt"))
	f.add("utime", at(tx, "now"))
	in := at(tx, "in_msg")
	f.add("message hash", at(in, "hash"))
	f.add("body hash", at(in, "message_content", "hash"))
	f.add("boc", at(in, "message_content", "body"))
	f.add("opcode", at(in, "opcode"))
	if at(in, "source") == nil || at(in, "created_lt") == nil {
		return
	}
	f.add("source", at(in, "source"))
	f.add("destination", at(in, "destination"))
	f.add("created lt", at(in, "created_lt"))
	if f["producer"] == nil {
		f.add("producer", at(tx, "hash"))
		f.add("consumer lt", at(tx, "lt"))
		f.add("consumer", at(tx, "account"))
	}
}

// learnTokens waits until the owners' jettons and NFTs stand on the chain.
func (s *server) learnTokens(t *testing.T, f facts) {
	jetton, collection := devnet.OwnersJetton(seed).Address(0).String(), devnet.OwnersCollection(seed).Address(0).String()
	f.add("jetton", jetton)
	f.add("collection", collection)
	for _, token := range []string{jetton, collection} {
		harness.Await(t, startLimit, func() bool {
			status, _, err := harness.Get(s.base + "/api/v2/getTokenData?address=" + url.QueryEscape(token))
			return err == nil && status == 200
		}, func() string { return "token " + token + " is not there" })
	}
	f.add("address", jetton, collection)
}

// of are values that suit a parameter by its name.
func (f facts) of(name string) []string {
	name = strings.TrimSuffix(name, "_hash_norm")
	switch {
	case f[name] != nil:
		return f[name]
	case strings.Contains(name, "utime"), name == "unixtime":
		return f["utime"]
	case strings.HasSuffix(name, "lt"):
		return f["lt"]
	case name == "mc_seqno", name == "from_seqno":
		return f["seqno"]
	case name == "hash", name == "msg_hash", name == "trace_id", name == "tx_hash":
		return append(append([]string{}, f["transaction hash"]...), f["message hash"]...)
	case strings.HasSuffix(name, "hash"):
		return f[strings.ReplaceAll(name, "_", " ")]
	case strings.HasSuffix(name, "address"), strings.HasSuffix(name, "account"), name == "accounts":
		return f["address"]
	case strings.HasSuffix(name, "boc"), name == "body":
		return f["boc"]
	case strings.HasPrefix(name, "opcode"):
		return f["opcode"]
	}
	return nil
}

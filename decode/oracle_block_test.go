package decode

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tonscribe/schema/record"
)

// tonRustNumber is a number that ton-rust-node writes in JSON as a number, in
// decimal (…_dec) or in one of two hexadecimal forms.
func tonRustNumber(t *testing.T, fields map[string]json.RawMessage, key string) uint64 {
	t.Helper()
	if v, ok := fields[key+"_dec"]; ok {
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	v := fields[key]
	if len(v) > 0 && v[0] != '"' {
		n, err := strconv.ParseUint(string(v), 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		return n
	}
	var s string
	if err := json.Unmarshal(v, &s); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return n
}

func tonRustString(t *testing.T, fields map[string]json.RawMessage, key string) (s string) {
	t.Helper()
	if err := json.Unmarshal(fields[key], &s); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return s
}

type tonRustFields = map[string]json.RawMessage

func TestBlocksAreWhatTonRustNodeSays(t *testing.T) {
	blocks := 0
	for _, file := range oracleFiles(t, "ton-rust-node_block-json/*-ethalon.json") {
		var w tonRustFields
		readJSON(t, file, &w)
		if _, ok := w["rand_seed"]; !ok { // proofs and states
			continue
		}
		if strings.Contains(file, "crafted") { // its JSON is not about its own boc
			continue
		}
		blocks++
		t.Run(tonRustString(t, w, "id"), func(t *testing.T) { compareTonRust(t, w) })
	}
	if blocks < 6 {
		t.Errorf("only %d blocks", blocks)
	}
}

func compareTonRust(t *testing.T, w tonRustFields) {
	boc, err := base64.StdEncoding.DecodeString(tonRustString(t, w, "boc"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Block(boc, 3)
	if err != nil {
		t.Fatal(err)
	}
	info, err := Header(boc)
	if err != nil {
		t.Fatal(err)
	}
	b := r.Block
	for _, c := range []struct {
		key string
		got uint64
	}{
		{"version", uint64(b.Version)}, {"vert_seqno_incr", number(b.VertSeqnoIncr)}, {"seq_no", uint64(b.Id.Seqno)},
		{"vert_seq_no", uint64(b.VertSeqno)}, {"gen_utime", uint64(b.GenUtime)}, {"start_lt", b.StartLt}, {"end_lt", b.EndLt},
		{"gen_validator_list_hash_short", uint64(uint32(b.ValidatorListHashShort))}, {"gen_catchain_seqno", uint64(b.GenCatchainSeqno)},
		{"min_ref_mc_seqno", uint64(b.MinRefMcSeqno)}, {"prev_key_block_seqno", uint64(b.PrevKeyBlockSeqno)},
		{"gen_software_version", uint64(b.GenSoftwareVersion)}, {"gen_software_capabilities", b.GenSoftwareCapabilities},
		{"tr_count", uint64(b.TxCount)}, {"prev_seq_no", uint64(b.PrevBlocks[0].Seqno)},
	} {
		if _, ok := w[c.key]; ok {
			equal(t, c.key, c.got, tonRustNumber(t, w, c.key))
		}
	}
	flags := map[string]bool{
		"after_merge": b.AfterMerge, "before_split": b.BeforeSplit, "after_split": b.AfterSplit,
		"want_split": b.WantSplit, "want_merge": b.WantMerge, "key_block": b.KeyBlock,
	}
	for key, got := range flags {
		equal(t, key, fmt.Sprint(got), string(w[key]))
	}
	equal(t, "global_id", fmt.Sprint(b.GlobalId), string(w["global_id"]))
	equal(t, "workchain_id", fmt.Sprint(b.Id.Workchain), string(w["workchain_id"]))
	for key, got := range map[string]string{
		"id": fmt.Sprintf("%x", b.Id.RootHash), "file_hash": fmt.Sprintf("%x", b.Id.FileHash), "shard": fmt.Sprintf("%x", b.Id.Shard),
		"rand_seed": fmt.Sprintf("%x", b.RandSeed), "created_by": fmt.Sprintf("%x", b.CreatedBy),
	} {
		equal(t, key, got, tonRustString(t, w, key))
	}
	compareTonRustRef(t, w["prev_ref"], b.PrevBlocks[0])
	if w["master_ref"] != nil {
		compareTonRustRef(t, w["master_ref"], info.MasterRef)
	}
	compareTonRustTransactions(t, w, r.Transactions)
	compareTonRustShards(t, w, info.Shards)
}

func number(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func compareTonRustRef(t *testing.T, raw json.RawMessage, id *record.BlockId) {
	t.Helper()
	var ref tonRustFields
	if err := json.Unmarshal(raw, &ref); err != nil {
		t.Fatal(err)
	}
	equal(t, "ref", fmt.Sprintf("%d %x %x", id.Seqno, id.RootHash, id.FileHash),
		fmt.Sprintf("%d %s %s", tonRustNumber(t, ref, "seq_no"), tonRustString(t, ref, "root_hash"), tonRustString(t, ref, "file_hash")))
}

func compareTonRustTransactions(t *testing.T, w tonRustFields, list []*record.Transaction) {
	var accounts []struct {
		Account      string `json:"account_addr"`
		OldHash      string `json:"old_hash"`
		NewHash      string `json:"new_hash"`
		Transactions []tonRustFields
	}
	if w["account_blocks"] != nil {
		if err := json.Unmarshal(w["account_blocks"], &accounts); err != nil {
			t.Fatal(err)
		}
	}
	byHash := map[string]*record.Transaction{}
	for _, tx := range list {
		byHash[fmt.Sprintf("%x", tx.Hash)] = tx
	}
	count := 0
	for _, account := range accounts {
		for i, raw := range account.Transactions {
			count++
			tx := byHash[tonRustString(t, raw, "transaction_id")]
			if tx == nil {
				t.Errorf("no transaction %s", raw["transaction_id"])
				continue
			}
			equal(t, "account", text(tx.Account), account.Account)
			equal(t, "lt", tx.Lt, tonRustNumber(t, raw, "lt"))
			if _, ok := raw["total_fees_dec"]; ok {
				equal(t, "total_fees", tx.TotalFees, tonRustNumber(t, raw, "total_fees"))
			}
			if i == 0 {
				equal(t, "old state", fmt.Sprintf("%x", tx.StateHashBefore), account.OldHash)
			}
			if i == len(account.Transactions)-1 {
				equal(t, "new state", fmt.Sprintf("%x", tx.StateHashAfter), account.NewHash)
			}
		}
	}
	equal(t, "transactions", len(list), count)
}

func compareTonRustShards(t *testing.T, w tonRustFields, shards []ShardDescr) {
	var master struct {
		Shards []struct {
			Workchain int32 `json:"workchain_id"`
			Shard     string
			Descr     tonRustFields
		} `json:"shard_hashes"`
	}
	if w["master"] != nil {
		if err := json.Unmarshal(w["master"], &master); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "shards", len(shards), len(master.Shards))
	for i, s := range master.Shards {
		got, d := shards[i], s.Descr
		equal(t, "shard", fmt.Sprintf("%d %x", got.ID.Workchain, got.ID.Shard), fmt.Sprintf("%d %s", s.Workchain, s.Shard))
		compareTonRustRef(t, mustJSON(t, d), got.ID)
		equal(t, "shard numbers", fmt.Sprint(got.RegMC, got.StartLT, got.EndLT, got.GenUtime, got.MinRefMC),
			fmt.Sprint(tonRustNumber(t, d, "reg_mc_seqno"), tonRustNumber(t, d, "start_lt"), tonRustNumber(t, d, "end_lt"),
				tonRustNumber(t, d, "gen_utime"), tonRustNumber(t, d, "min_ref_mc_seqno")))
		equal(t, "shard flags", fmt.Sprint(got.BeforeSplit, got.BeforeMerge, got.WantSplit, got.WantMerge, got.NXCCUpdated),
			fmt.Sprint(string(d["before_split"]), " ", string(d["before_merge"]), " ", string(d["want_split"]), " ", string(d["want_merge"]), " ", string(d["nx_cc_updated"])))
	}
}

func mustJSON(t *testing.T, v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

package query

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
)

// deepWallet is a wallet v3 r2 with seqno 5, whose data is of a depth.
func deepWallet(t testing.TB, depth int) *record.Account {
	t.Helper()
	code, err := base64.StdEncoding.DecodeString("hNr6RJ+Ypph3ibojI1gHK8D3bcRSQAKl0JGLmnXS1Zk=")
	if err != nil {
		t.Fatal(err)
	}
	below := cell.BeginCell().EndCell()
	for range depth - 1 {
		below = cell.BeginCell().MustStoreRef(below).EndCell()
	}
	data := cell.BeginCell().MustStoreUInt(5, 32).MustStoreUInt(7, 32).MustStoreRef(below).EndCell()
	return &record.Account{Account: addressOf(byte(depth)), LastTransHash: make([]byte, 32), Hash: make([]byte, 32),
		State: &record.AccountState{Status: record.AccountStatus_ACCOUNT_ACTIVE, CodeHash: code, DataHash: data.Hash()},
		Data:  data.ToBOC(), DataDepth: uint32(depth)}
}

// What is told of an account without its data is what its hashes tell: it is no
// wallet, whatever its code.
func TestAccountWhoseDataIsTooDeepToBeKeptIsShownWithout(t *testing.T) {
	t.Parallel()
	bundles := syntheticBundles(200, 3)
	for _, depth := range []int{12, 13} {
		a := deepWallet(t, depth)
		a.McSeqno = bundles[0].Seqno
		bundles[0].Late = append(bundles[0].Late, a)
	}
	s := newWorld(t, bundles).serve(t, nil)
	one := func(path, list string, depth int) map[string]any {
		t.Helper()
		var answer map[string]json.RawMessage
		var rows []map[string]any
		body := s.ask("/api/v3/" + path + "?address=" + rawOf(addressOf(byte(depth)))).Body
		if err := json.Unmarshal(body.Bytes(), &answer); err != nil {
			t.Fatalf("%s: %v: %s", path, err, body)
		}
		if list == "" {
			rows = []map[string]any{{}}
			for name, value := range answer {
				rows[0][name] = string(value)
			}
		} else if err := json.Unmarshal(answer[list], &rows); err != nil || len(rows) != 1 {
			t.Fatalf("%s: %v: %s", path, err, body)
		}
		return rows[0]
	}
	for depth, kept := range map[int]bool{12: true, 13: false} {
		state := one("accountStates", "accounts", depth)
		hash := base64.StdEncoding.EncodeToString(deepWallet(t, depth).State.DataHash)
		if _, there := state["data_boc"]; there != kept || state["data_hash"] != hash {
			t.Errorf("depth %d: data_boc is there: %t, data_hash is %v; want %t, %s", depth, there, state["data_hash"], kept, hash)
		}
		if wallet := one("walletStates", "wallets", depth); wallet["is_wallet"] != kept {
			t.Errorf("depth %d: wallet is %v", depth, wallet)
		}
		if info := one("addressInformation", "", depth); (info["data"] != "null") != kept {
			t.Errorf("depth %d: addressInformation is %v", depth, info)
		}
		if wallet := one("walletInformation", "", depth); (wallet["seqno"] == "5") != kept || (wallet["error"] == `"not a wallet"`) == kept {
			t.Errorf("depth %d: walletInformation is %v", depth, wallet)
		}
	}
}

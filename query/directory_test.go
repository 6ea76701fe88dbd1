package query

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// The address book shows what an account is by its code of every bundle, whether
// codes are held in memory, some of them, or none.
func TestTheCodesOfAccountsAreThoseOfEveryBundle(t *testing.T) {
	t.Parallel()
	bundles := syntheticBundles(200, 6)
	w := newWorld(t, bundles)
	w.exec(t, "TRUNCATE TABLE accounts")
	const v3, v4 = "84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599", "feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0"
	v3r2, v4r2 := `["wallet_v3r2"]`, `["wallet_v4r2"]`
	tell := func(n byte, version uint64, status, code string, mcSeqno uint32) {
		id := schema.AccountID(addressOf(n))
		w.exec(t, fmt.Sprintf("INSERT INTO accounts (workchain, account_prefix, account, version, mc_seqno, status, code_hash) VALUES (0, %d, unhex('%x'), %d, %d, '%s', unhex('%s'))",
			schema.Prefix(id), id, version, mcSeqno, status, code))
	}
	zero := fmt.Sprintf("%064x", 0)
	w.setWatermark(t, bundles[0])
	tell(70, 2, "active", v4, 1)
	tell(71, 2, "uninit", zero, 1)
	for range 6 {
		tell(byte(80), 2, "active", v3, bundles[0].Seqno)
	}
	servers := map[string]*server{}
	for what, bytes := range map[string]int{"none held": 0, "some held": 600, "all held": 1 << 20} {
		servers[what] = w.serve(t, func(c *Configuration) { c.Store.CacheBytes = bytes })
	}
	interfaces := func(s *server, n byte) string {
		raw := rawOf(addressOf(n))
		var book map[string]struct{ Interfaces json.RawMessage }
		if err := json.Unmarshal(s.ask("/api/v3/addressBook?address="+raw).Body.Bytes(), &book); err != nil {
			t.Fatal(err)
		}
		return string(book[raw].Interfaces)
	}
	want := map[byte]string{70: v4r2, 71: "null", 72: "[]", 73: "[]", 80: v3r2}
	for n, step := range []struct {
		what string
		tell func(mcSeqno uint32)
		want map[byte]string
	}{
		{"nothing new", func(uint32) {}, nil},
		{"a new wallet", func(m uint32) { tell(72, 10, "active", v3, m) }, map[byte]string{72: v3r2}},
		{"one that is only paid", func(m uint32) { tell(73, 10, "uninit", zero, m) }, map[byte]string{73: "null"}},
		{"it is deployed", func(m uint32) { tell(73, 12, "active", v4, m) }, map[byte]string{73: v4r2}},
		{"code changes, the newer row first", func(m uint32) {
			tell(72, 22, "active", v4, m)
			tell(72, 20, "active", v3, m)
		}, map[byte]string{72: v4r2}},
		{"an account of long ago is frozen", func(m uint32) { tell(70, 30, "frozen", zero, m) }, map[byte]string{70: "null"}},
		{"a code could not be had", func(m uint32) { tell(71, 30, "active", zero, m) }, map[byte]string{71: "null"}},
		{"and comes afterwards", func(m uint32) { tell(71, 31, "active", v3, m) }, map[byte]string{71: v3r2}},
	} {
		b := bundles[n+1]
		step.tell(b.Seqno)
		w.setWatermark(t, b)
		for k, v := range step.want {
			want[k] = v
		}
		for what, s := range servers {
			s.await(b.Seqno)
			for _, account := range slices.Sorted(slices.Values([]byte{70, 71, 72, 73, 80})) {
				if got := interfaces(s, account); got != want[account] {
					t.Errorf("%s, %s: interfaces of %d are %s, want %s", step.what, what, account, got, want[account])
				}
			}
		}
	}
}

// What is told of a jetton is what its master says at every bundle, although the
// master is held in memory.
func TestAJettonIsWhatItsMasterSaysAtEveryBundle(t *testing.T) {
	t.Parallel()
	bundles := syntheticBundles(200, 8)
	w := newWorld(t, bundles)
	w.setWatermark(t, bundles[0])
	s := w.serve(t, nil)
	master := addressOf(90)
	for n, name := range []string{"", "Gold", "Gold", "Silver", "", "Gold"} {
		b := bundles[n+1]
		c := &record.Contract{Account: master, McSeqno: b.Seqno, FirstMcSeqno: bundles[1].Seqno}
		if name != "" {
			c.JettonMaster = &record.JettonMaster{Content: &record.TokenContent{Attributes: []*record.TokenAttribute{{Name: "name", Value: name}}}}
		}
		raw := packed(t, c)
		if n > 0 && n != 2 { // nothing is told of it at first and in the third bundle
			w.exec(t, fmt.Sprintf("INSERT INTO contracts (workchain, account_prefix, account, mc_seqno, first_mc_seqno, record) VALUES (0, %d, unhex('%x'), %d, %d, unhex('%x'))",
				schema.Prefix(schema.AccountID(master)), schema.AccountID(master), c.McSeqno, c.FirstMcSeqno, raw))
		}
		w.setWatermark(t, b)
		s.await(b.Seqno)
		for range 2 { // the second time it is held
			var metadata map[string]struct {
				TokenInfo []struct{ Name string } `json:"token_info"`
			}
			if err := json.Unmarshal(s.ask("/api/v3/metadata?address="+rawOf(master)).Body.Bytes(), &metadata); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, row := range metadata {
				for _, info := range row.TokenInfo {
					got += info.Name
				}
			}
			if got != name {
				t.Errorf("bundle %d: the jetton's name is %q, want %q", n+1, got, name)
			}
		}
	}
}

package query

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tonscribe/schema/record"
)

// walk gives all rows of a list as texts, so many a page.
func (s *server) walk(path, member, limit string) (rows []string) {
	s.Helper()
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		var page map[string]json.RawMessage
		body := s.ask(path + "&limit=" + limit + "&cursor=" + cursor).Body.Bytes()
		var list []json.RawMessage
		if json.Unmarshal(body, &page) != nil || json.Unmarshal(page[member], &list) != nil {
			s.Fatalf("%.200s: %.300s", path, body)
		}
		for _, row := range list {
			rows = append(rows, string(row))
		}
		cursor = ""
		if next := page["next_cursor"]; next != nil {
			cursor = strings.Trim(string(next), `"`)
		}
	}
	return rows
}

// What is asked of many accounts at once is what is asked of each, page by page and
// as a whole. Parts are not merged, and rows are there twice.
func TestManyAccountsAtOnceAreLikeEachForItself(t *testing.T) {
	t.Parallel()
	w := sharedTown(t)
	// Of each kind the first few, which have more of it than others do.
	var some []string
	add := func(most int, of func(yield func([]byte))) {
		var all []string
		of(func(a []byte) {
			if len(a) > 0 {
				all = append(all, rawOf(a))
			}
		})
		slices.Sort(all)
		all = slices.Compact(all)
		some = append(some, all[:min(most, len(all))]...)
	}
	each := func(of func(*record.Contract) [][]byte) func(func([]byte)) {
		return func(yield func([]byte)) {
			for _, c := range w.contracts {
				for _, a := range of(c) {
					yield(a)
				}
			}
		}
	}
	add(6, each(func(c *record.Contract) [][]byte { return [][]byte{c.JettonWallet.GetOwner()} }))
	add(6, each(func(c *record.Contract) [][]byte { return [][]byte{c.NftItem.GetOwner()} }))
	add(3, each(func(c *record.Contract) [][]byte { return [][]byte{c.JettonMaster.GetAdmin()} }))
	add(3, func(yield func([]byte)) {
		for _, b := range w.burns {
			yield(b.Owner)
		}
	})
	slices.Sort(some)
	some = slices.Compact(some)
	for _, c := range []struct{ path, parameter, member string }{
		{"transactions?", "account", "transactions"},
		{"transactions?sort=asc&start_utime=1", "account", "transactions"},
		{"jetton/wallets?", "owner_address", "jetton_wallets"},
		{"jetton/wallets?sort=desc", "owner_address", "jetton_wallets"},
		{"jetton/transfers?", "owner_address", "jetton_transfers"},
		{"jetton/transfers?sort=asc&direction=in&start_utime=1", "owner_address", "jetton_transfers"},
		{"jetton/burns?", "owner_address", "jetton_burns"},
		{"jetton/masters?", "admin_address", "jetton_masters"},
		{"nft/items?", "owner_address", "nft_items"},
		{"nft/items?include_on_sale=true&sort_by_last_transaction_lt=true", "owner_address", "nft_items"},
		{"nft/transfers?", "owner_address", "nft_transfers"},
	} {
		t.Run(c.path+c.parameter, func(t *testing.T) {
			s := *w.server
			s.TB = t
			path := "/api/v3/" + c.path
			want := map[string]bool{}
			for _, a := range some {
				for _, row := range s.walk(path+"&"+c.parameter+"="+url.QueryEscape(a), c.member, "1000") {
					want[row] = true
				}
			}
			for _, a := range some {
				path += "&" + c.parameter + "=" + url.QueryEscape(a)
			}
			whole, pages := s.walk(path, c.member, "1000"), s.walk(path, c.member, "30")
			if len(want) == 0 {
				t.Fatal("the accounts have nothing")
			}
			if !slices.Equal(whole, pages) {
				t.Errorf("%d rows a thousand a page, %d thirty a page, %s", len(whole), len(pages), firstDifference(pages, whole))
			}
			for _, row := range whole {
				if !want[row] {
					t.Fatalf("no account for itself has %.200s", row)
				}
			}
			if len(whole) != len(want) {
				t.Errorf("%d rows of all at once, %d of each for itself", len(whole), len(want))
			}
		})
	}
}

package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// rowsRead is how many rows ClickHouse has gone through for what is read by some
// names, for all of them without a name.
func (s *server) rowsRead(names ...string) (sum float64) {
	s.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "tonscribe_query_rows_read_total" {
			continue
		}
		for _, m := range f.Metric {
			if len(names) == 0 || strings.Contains(strings.Join(names, ","), m.Label[0].GetValue()) {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// nextOf is the cursor of the page after an answer. Empty after the last one.
func nextOf(w *httptest.ResponseRecorder) string {
	if next := w.Header().Get("X-Next-Cursor"); next != "" {
		return next
	}
	_, after, _ := bytes.Cut(w.Body.Bytes(), []byte(`"next_cursor":"`)) // no text has quotes without a backslash
	next, _, _ := bytes.Cut(after, []byte(`"`))
	return string(next)
}

// length is how many rows an answer has, whatever it is about.
func (s *server) length(path string) (rows int, next string) {
	s.Helper()
	w := s.ask(path)
	if w.Code != http.StatusOK {
		s.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	var list []json.RawMessage
	if json.Unmarshal(w.Body.Bytes(), &list) == nil {
		return len(list), nextOf(w)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &object); err != nil {
		s.Fatal(path, err)
	}
	for _, value := range object {
		if value[0] == '[' && json.Unmarshal(value, &list) == nil {
			rows = len(list)
		}
	}
	if rows == 0 {
		rows = len(object) - 2 // addresses, or the members of one thing
	}
	return rows, nextOf(w)
}

// inParts are the tables that consist of several parts.
func (w *world) inParts(t testing.TB) (tables []string) {
	t.Helper()
	if err := w.tables.Conn().QueryRow(t.Context(), "SELECT groupArray(table) FROM (SELECT table FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table HAVING count() > 1 ORDER BY table)").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	return tables
}

// merge makes a table one part. While another merge runs the request to do so is
// passed over.
func (w *world) merge(t testing.TB, table string) {
	t.Helper()
	for parts := uint64(2); parts > 1; {
		w.exec(t, "OPTIMIZE TABLE "+table+" FINAL")
		if err := w.tables.Conn().QueryRow(t.Context(), "SELECT count() FROM system.parts WHERE active AND database = currentDatabase() AND table = ?", table).Scan(&parts); err != nil {
			t.Fatalf("%s is not one part: %v", table, err)
		}
	}
}

// What a request about accounts, tokens and other contracts makes ClickHouse go
// through does not grow with the tables, however popular what it asks for is and
// however deep the page lies. Every table is one part. The long run has two million
// transactions, and the same bounds.
func TestRequestsAboutAccountsAndTokensReadLittle(t *testing.T) {
	t.Parallel()
	w, keys := mergedWorld(t)
	bundles := w.bundles
	s := w.serve(t, func(c *Configuration) {
		holdNothing(c)
		c.Store.Poll = time.Hour // only the requests' own statements count
	})
	const limit = 10
	// The rows that lead to a page lie in two granules of each list, and so do the
	// names of accounts, which are links: these have larger granules, and some lists
	// are in links. Lists of transfers in the order of time have granules of 512 rows. What is in the page, and the accounts that it names, lie in a
	// granule each.
	const offset = 300 // of pages that are not asked for by cursor
	var allLinks, allCodes uint64
	if err := w.tables.Conn().QueryRow(t.Context(), "SELECT (SELECT count() FROM contract_links), (SELECT count() FROM codes)").Scan(&allLinks, &allCodes); err != nil {
		t.Fatal(err)
	}
	lists := map[string]float64{"multisig/wallets": 2 + limit, "multisig/orders": 1, "vesting": 2} // in links
	leading := func(path string, pieces float64) float64 {
		granule := 256.0
		if strings.Contains(path, "_utime=") {
			granule = 512
		}
		path, _, _ = strings.Cut(path, "?")
		names, links := max(256, min(2*1024, float64(allLinks))), 2*1024*lists[path]
		borders := 3 * 256.0 // of granules: a row of the page may be the first of its own
		return 2*granule*pieces + names + links + float64(allCodes) + borders
	}
	const all = 7.0*limit*700 + 2000
	e := url.QueryEscape
	popular, jetton, middle := e(keys.Popular), e(keys.Jetton), bundles[len(bundles)/2]
	for _, c := range []struct {
		path   string
		pieces float64 // that the list is in
		deep   int     // where a page by cursor begins, 0 for the first page
	}{
		{"accountStates?address=" + e(keys.States[0][0]), 0, 0},
		{"accountStates?address=" + strings.Join(keys.States[0][:limit], "&address="), 0, 0},
		{"walletStates?address=" + e(keys.States[1][0]), 0, 0},
		{"addressBook?address=" + strings.Join(keys.States[2][:limit], "&address="), 0, 0},
		{"metadata?address=" + strings.Join(keys.Item[:limit], "&address="), 0, 0},
		{"addressInformation?address=" + popular, 0, 0},
		{"walletInformation?address=" + popular, 0, 0},
		{"topAccountsByBalance?", 1, min(keys.Accounts/2, 90_000)},

		{"jetton/masters?", 1, 0},
		{"jetton/masters?", 1, 100},
		{"jetton/masters?admin_address=" + popular, 1, 0},
		{"jetton/wallets?sort=desc&jetton_address=" + jetton, 1, 0},
		{"jetton/wallets?sort=desc&jetton_address=" + jetton, 1, min(keys.Holders*8/10, 90_000)},
		{"jetton/wallets?jetton_address=" + jetton, 1, min(keys.Holders*8/10, 90_000)},
		{"jetton/wallets?sort=asc&exclude_zero_balance=true&jetton_address=" + jetton, 1, 0},
		{"jetton/wallets?exclude_zero_balance=true&owner_address=" + popular, 2, 0},
		{"jetton/wallets?exclude_zero_balance=true&sort=desc", 2, 0},
		{"jetton/wallets?sort=desc&jetton_address=" + e(keys.JettonSmall[0]), 1, 0},
		{"jetton/wallets?sort=desc", 1, 0},
		{"jetton/wallets?sort=desc", 1, 130},
		{"jetton/wallets?sort=asc", 1, 130},
		{"jetton/wallets?", 1, 0},
		{"jetton/wallets?", 1, 130},
		{"jetton/wallets?", 2, offset},
		{"jetton/wallets?jetton_address=" + jetton, 2, offset},
		{"jetton/wallets?owner_address=" + popular, 1, 0},
		{"jetton/wallets?sort=desc&owner_address=" + popular, 1, 100},
		{"jetton/wallets?owner_address=" + popular + "&jetton_address=" + e(keys.JettonSmall[7]), 1, 0},
		{"jetton/wallets?address=" + e(keys.JettonWallet[0]), 0, 0},

		{"jetton/transfers?", 1, 0},
		{"jetton/transfers?owner_address=" + popular, 1, 1000},
		{"jetton/transfers?direction=in&owner_address=" + popular, 1, 0},
		{"jetton/transfers?owner_address=" + popular + "&jetton_master=" + e(keys.JettonSmall[3]), 2, 0},
		{"jetton/transfers?owner_address=" + popular + "&jetton_master=" + jetton, 2, 20},
		{"jetton/transfers?direction=in&owner_address=" + popular + "&jetton_master=" + e(keys.JettonSmall[3]), 1, 0},
		{"jetton/transfers?direction=out&owner_address=" + popular + "&jetton_master=" + jetton, 1, 0},
		{fmt.Sprintf("jetton/transfers?end_utime=%d&owner_address=%s&jetton_master=%s", middle.Utime, popular, jetton), 2, 0},
		{fmt.Sprintf("jetton/transfers?start_utime=%d&direction=in&owner_address=%s&jetton_master=%s", middle.Utime, popular, jetton), 1, 0},
		{fmt.Sprintf("jetton/transfers?end_lt=%d&owner_address=%s&jetton_master=%s", middle.Transactions[0].Lt, popular, jetton), 2, 0},
		{"jetton/transfers?jetton_master=" + jetton, 1, 1000},
		{"jetton/transfers?jetton_wallet=" + e(keys.JettonWallet[1]), 1, 0},
		{fmt.Sprintf("jetton/transfers?end_utime=%d&owner_address=%s", middle.Utime, popular), 1, 0},
		{"jetton/transfers?end_utime=4000000000&owner_address=" + popular, 1, 0},
		{"jetton/transfers?start_utime=1&sort=asc&direction=in&owner_address=" + popular, 1, 0},
		{"jetton/transfers?end_utime=4000000000", 1, 0},
		{"jetton/transfers?end_utime=4000000000&jetton_master=" + jetton, 1, 0},
		{"jetton/transfers?end_utime=4000000000&direction=out&owner_address=" + popular, 1, 0},
		{"jetton/burns?end_utime=4000000000&owner_address=" + popular, 1, 0},
		{"jetton/burns?end_utime=4000000000&jetton_master=" + jetton, 1, 0},
		{"nft/transfers?end_utime=4000000000&owner_address=" + popular, 1, 0},
		{fmt.Sprintf("jetton/transfers?end_lt=%d", middle.Transactions[0].Lt), 1, 0},
		{"jetton/burns?", 1, 0},
		{"jetton/burns?owner_address=" + popular, 1, 0},
		{"jetton/burns?owner_address=" + popular + "&jetton_master=" + jetton, 1, 0},
		{"jetton/burns?jetton_master=" + jetton, 1, 0},

		{"nft/collections?", 1, 20},
		{"nft/collections?collection_address=" + e(keys.Collection[0]), 0, 0},
		{"nft/items?owner_address=" + popular, 1, 0},
		{"nft/items?sort_by_last_transaction_lt=true&owner_address=" + popular, 1, 0},
		{"nft/items?include_on_sale=true&sort_by_last_transaction_lt=true&owner_address=" + popular, 2, 0},
		{"nft/items?collection_address=" + e(keys.Collection[1]), 1, 0},
		{"nft/items?sort_by_last_transaction_lt=true&collection_address=" + e(keys.Collection[1]), 1, 0},
		{"nft/items?index=1&collection_address=" + e(keys.Collection[1]), 1, 0},
		{"nft/items?", 1, 0},
		{"nft/items?", 1, 120},
		{"nft/items?", 2, offset},
		{"nft/items?sort_by_last_transaction_lt=true", 1, 0},
		{"nft/items?sort_by_last_transaction_lt=true", 1, 120},
		{"nft/transfers?", 1, 0},
		{"nft/transfers?owner_address=" + popular, 1, 0},
		{"nft/transfers?owner_address=" + popular + "&collection_address=" + e(keys.Collection[2]), 2, 0},
		{"nft/transfers?collection_address=" + e(keys.Collection[2]), 1, 0},
		{"nft/transfers?item_address=" + e(keys.Item[3]), 1, 0},
		{"nft/sales?address=" + e(keys.Sale[0]), 0, 0},

		{"dns/records?domain=" + keys.Domain[0], 1, 0},
		{"dns/records?wallet=" + e(keys.DomainOwner[0]), 1, 0},
		{"dns/records?", 1, 0},
		{"multisig/wallets?wallet_address=" + popular, 3, 0}, // and their orders
		{"multisig/orders?multisig_address=" + e(keys.Multisig[0]), 1, 0},
		{"vesting?check_whitelist=true&wallet_address=" + e(keys.VestingOwner[0]), 2, 0},
	} {
		path := fmt.Sprintf("/api/v3/%s&limit=%d", c.path, limit)
		if c.pieces == 0 {
			path = "/api/v3/" + c.path
		}
		path = strings.Replace(path, "?&", "?", 1)
		if c.deep == offset {
			path, c.deep = fmt.Sprintf("%s&offset=%d", path, offset), 0
		}
		if c.deep > 0 {
			_, next := s.length(fmt.Sprintf("%s&offset=%d", path, c.deep))
			if next == "" {
				t.Fatalf("%s: nothing comes after %d", path, c.deep)
			}
			path += "&cursor=" + e(next)
		}
		leads := []string{"contract keys", "contract offset", "transfer keys", "ranking"}
		before, leadsBefore := s.rowsRead(), s.rowsRead(leads...)
		n, _ := s.length(path)
		read, lead := s.rowsRead()-before, s.rowsRead(leads...)-leadsBefore
		if most := leading(c.path, c.pieces); n < 1 || read == 0 || read > all || lead > most {
			t.Errorf("%s: %d rows found, %.0f were read, want at most %.0f, of them leading to the page %.0f, want at most %.0f", path, n, read, all, lead, most)
			continue
		}
		t.Logf("%6.0f rows, leading %6.0f: %.100s", read, lead, path)
	}
	t.Run("whatever the parameters", func(t *testing.T) {
		checkCombinations(t, w.serve(t, boundedScans), keys, bundles)
	})
}

package query

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
)

// merged is a world of many rows, each table of which is one part.
type merged struct {
	*world
	keys *synthetic.Keys
}

var mergedTables kept[*merged]

// mergedWorld is that of the tests that bound what is read, with its keys.
func mergedWorld(t *testing.T) (*world, *synthetic.Keys) {
	t.Helper()
	m := mergedTables.get(t, func() *merged {
		transactions := 30_000
		if long() {
			transactions = 2_000_000
		}
		rows := synthetic.NewRows(synthetic.RowOptions{Transactions: transactions, Seed: 6, Whole: true})
		w := &world{engine: enginetest.KeptTables(t)}
		for b := rows.Next(); b != nil; b = rows.Next() {
			w.bundles = append(w.bundles, b)
		}
		w.tokens = synthetic.NewTokens(rows)
		w.fill(t)
		m := &merged{w, rows.Keys()}
		w.tokens.AddKeys(m.keys)
		for _, table := range w.inParts(t) {
			w.merge(t, table)
		}
		return m
	})
	return m.again(t), m.keys
}

// What a request makes ClickHouse go through does not grow with the tables: each
// list is a range of a primary key. Tables are merged, so that a bound is some
// granules. The long run has two million transactions, and the same bounds.
func TestRequestsReadLittle(t *testing.T) {
	t.Parallel()
	w, keys := mergedWorld(t)
	bundles := w.bundles
	s := w.serve(t, func(c *Configuration) {
		holdNothing(c)
		c.Store.Poll = time.Hour // only the requests' own statements count
	})
	middle := bundles[len(bundles)/2]
	tx := middle.Transactions[0]
	block := middle.Blocks[0]
	e := url.QueryEscape
	// A few granules for what lies by itself, more for the records and accounts of
	// a page, and a small one of records for each of a thousand.
	const granule, ofRecords = 1024, 256
	const point, page, thousand = 4 * granule, 32 * granule, 1000 * ofRecords
	for path, most := range map[string]float64{
		"transactions?account=" + e(keys.Popular):                                                 page,
		"transactions?account=" + e(keys.Popular) + "&limit=1000":                                 thousand,
		"transactions?account=" + e(keys.Popular) + "&offset=1000":                                page,
		"transactions?account=" + e(keys.Ordinary[0]) + "&account=" + e(keys.Popular):             page,
		"transactions?hash=" + e(keys.Tx[0]):                                                      point,
		"transactions?limit=20":                                                                   page,
		"transactions?limit=20&sort=asc":                                                          page,
		fmt.Sprintf("transactions?mc_seqno=%d", middle.Seqno):                                     page,
		fmt.Sprintf("transactions?lt=%d", tx.Lt):                                                  point,
		fmt.Sprintf("transactions?end_lt=%d", tx.Lt):                                              page,
		fmt.Sprintf("transactions?start_utime=%d&end_utime=%d", middle.Utime, middle.Utime+1000):  page,
		fmt.Sprintf("transactions?workchain=0&shard=%x&seqno=%d", block.Id.Shard, block.Id.Seqno): page,
		"transactionsByMessage?msg_hash=" + e(keys.Msg[0]):                                        point,
		"adjacentTransactions?hash=" + e(keys.AdjTx[0]):                                           page,
		"messages?msg_hash=" + e(keys.Msg[0]):                                                     point,
		"messages?source=" + e(keys.Popular):                                                      page,
		"messages?destination=" + e(keys.Popular):                                                 page,
		"messages?limit=20":                                                                       page,
		"messages?limit=20&start_lt=1":                                                            page,
		fmt.Sprintf("messages?start_utime=%d&end_utime=%d", middle.Utime, middle.Utime+1000):      page,
		"blocks?limit=20": point,
		fmt.Sprintf("blocks?mc_seqno=%d", middle.Seqno):                                     point,
		fmt.Sprintf("blocks?workchain=0&shard=%x&seqno=%d", block.Id.Shard, block.Id.Seqno): point,
		fmt.Sprintf("blocks?workchain=0&shard=%x", block.Id.Shard):                          point,
		fmt.Sprintf("blocks?end_utime=%d&sort=desc", middle.Utime):                          point,
		fmt.Sprintf("blocks?end_lt=%d", tx.Lt):                                              point,
		"blocks?root_hash=" + e(b64(block.Id.RootHash)):                                     point,
	} {
		before := s.counter(t, "tonscribe_query_rows_read_total")
		if n := len(s.get("/api/v3/" + path).rows()); n == 0 {
			t.Errorf("%s finds nothing", path)
		}
		if read := s.counter(t, "tonscribe_query_rows_read_total") - before; read > most || read == 0 {
			t.Errorf("%s: %.0f rows were read, want at most %.0f", path, read, most)
		} else {
			t.Logf("%6.0f rows: %.80s", read, path)
		}
	}
}

// Only the record of a message tells its body. Where most messages have the same one,
// as none, those of an account are few.
func TestABodyThatMostMessagesHaveIsFoundAmongThoseOfAnAccount(t *testing.T) {
	t.Parallel()
	bundles := syntheticBundles(3000, 8)
	body := make([]byte, 32)
	ends := map[string][]string{} // of the filters, one each
	for _, b := range bundles {
		for _, tx := range b.Transactions {
			for _, m := range append(slices.Clone(tx.OutMsgs), tx.InMsg) {
				if m == nil {
					continue
				}
				if m.BodyHash = body; m.Kind == record.Message_INTERNAL && ends["destination"] == nil {
					ends["destination"], ends["source"] = []string{rawOf(m.Destination)}, []string{rawOf(m.Source)}
				}
			}
		}
	}
	s := newWorld(t, bundles).serve(t, holdNothing)
	both := url.Values{"source": ends["source"], "destination": ends["destination"]}
	for _, filter := range []url.Values{{"source": ends["source"]}, {"destination": ends["destination"]}, both} {
		for _, sort := range []string{"asc", "desc"} {
			path := "/api/v3/messages?sort=" + sort + "&" + filter.Encode()
			want := s.walk(path, "messages", "100")
			if got := s.walk(path+"&body_hash="+hex.EncodeToString(body), "messages", "3"); len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s has %d messages, of the body that all have %d", path, len(want), len(got))
			}
			if len(want) > 1 {
				if got := s.ask(path + "&limit=1&offset=1&body_hash=" + hex.EncodeToString(body)).Body.String(); !strings.Contains(got, want[1]) {
					t.Errorf("%s: the second message is not %.200s", path, got)
				}
			}
			path = "/api/v3/transactionsByMessage?sort=" + sort + "&" + filter.Encode() + "&body_hash=" + hex.EncodeToString(body)
			if got, want := len(s.walk(path, "transactions", "3")), holding(bundles, filter); got != want {
				t.Errorf("%s has %d transactions, want %d", path, got, want)
			}
		}
	}
}

// holding counts the transactions with a message from a source and to a destination, where
// they are given.
func holding(bundles []*synthetic.Bundle, ends url.Values) (n int) {
	at := func(end string, account []byte) bool {
		return !ends.Has(end) || len(account) > 0 && rawOf(account) == ends.Get(end)
	}
	matches := func(m *record.Message) bool {
		return m != nil && at("source", m.Source) && at("destination", m.Destination)
	}
	for _, b := range bundles {
		for _, tx := range b.Transactions {
			if matches(tx.InMsg) || slices.ContainsFunc(tx.OutMsgs, matches) {
				n++
			}
		}
	}
	return n
}

// A list goes through some rows of every part that a table has, and after a
// restart, or under merges that are behind, a table has many. No page is too heavy
// for that.
func TestPagesAreAnsweredHoweverManyPartsTheTablesHave(t *testing.T) {
	t.Parallel()
	const parts = 80
	bundles := syntheticBundles(7_000, 8)
	w := newWorld(t, bundles)
	for _, table := range []string{"blocks", "blocks_index", "transactions", "transactions_index", "messages_index", "messages_by_account", "transaction_traces"} {
		w.exec(t, "CREATE TABLE kept AS "+table)
		w.exec(t, "INSERT INTO kept SELECT * FROM "+table)
		w.exec(t, "TRUNCATE TABLE "+table)
		var rows uint64
		if err := w.tables.Conn().QueryRow(t.Context(), "SELECT count() FROM kept").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		size := rows/parts + 1
		w.exec(t, fmt.Sprintf("INSERT INTO %s SELECT * FROM kept ORDER BY mc_seqno SETTINGS max_block_size = %d, min_insert_block_size_rows = %d, min_insert_block_size_bytes = 0, max_insert_threads = 1", table, size, size))
		w.exec(t, "DROP TABLE kept SYNC")
	}
	var most uint64
	if err := w.tables.Conn().QueryRow(t.Context(), "SELECT max(n) FROM (SELECT count() AS n FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table)").Scan(&most); err != nil || most < parts {
		t.Fatalf("%d parts, %v; want %d", most, err, parts)
	}
	s := w.serve(t, func(c *Configuration) {
		holdNothing(c)
		c.Store.Poll = time.Hour
	})
	keys := bundles[len(bundles)/2].Transactions[0]
	account := url.QueryEscape(fmt.Sprintf("%d:%X", 0, keys.Account[4:]))
	for _, path := range []string{
		"transactions?limit=1000", "transactions?limit=1000&sort=asc", "transactions?limit=1000&sort=asc&offset=2000",
		"transactions?limit=1000&account=" + account, "messages?limit=1000", "messages?limit=1000&sort=asc", "blocks?limit=1000", "blocks?limit=1000&sort=asc",
		"transactions?limit=1", "messages?limit=1", "messages?limit=1&source=" + account,
	} {
		for at, pages := "/api/v3/"+path, 0; at != "" && pages < 2; pages++ {
			before := s.rowsRead()
			n, next := s.length(at)
			t.Logf("%7.0f rows for %d of %.80s", s.rowsRead()-before, n, at)
			at = ""
			if next != "" {
				at = "/api/v3/" + path + "&cursor=" + url.QueryEscape(next)
			}
		}
	}
}

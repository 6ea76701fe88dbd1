package query

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/engine"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/sink"
	"tonscribe/test/support/enginetest"
	"tonscribe/ton/address"
)

// town is what the tables of contracts hold: the tokens of a synthetic chain in
// parts that are not merged, a third of the rows twice, and contracts of all
// other kinds.
type town struct {
	*world
	*server
	contracts map[string]*record.Contract
	transfers map[string]*record.JettonTransfer
	burns     map[string]*record.JettonBurn
	nfts      map[string]*record.NFTTransfer
}

var tablesOfContracts = []string{
	"contracts", "jetton_masters", "jetton_wallets", "nft_collections", "nft_items", "contract_links", "jetton_transfers", "transfers_by_party",
	"jetton_burns", "nft_transfers",
}

// addressOf is an address that ends with a number.
func addressOf(n byte) []byte {
	a := make([]byte, schema.AddressSize)
	for i := 4; i < len(a); i++ {
		a[i] = n
	}
	return a
}

func hashOf(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }

// plainTown has no special contracts, for tests that only read.
var plainTown kept[*town]

// newTown makes tables of the test's own.
func newTown(t testing.TB, special ...*record.Contract) *town {
	t.Helper()
	w := fillTown(t, enginetest.UnmergedTables(t), special)
	w.server = w.serve(t, nil)
	return w
}

// again is the town for one more test, which only reads its tables.
func (w *town) again(t testing.TB) *town {
	x := *w
	x.world = w.world.again(t)
	x.server = x.serve(t, nil)
	return &x
}

// sharedTown is newTown for a test that changes nothing in the tables.
func sharedTown(t testing.TB) *town {
	t.Helper()
	return plainTown.get(t, func() *town { return fillTown(t, enginetest.KeptTables(t), nil) }).again(t)
}

func fillTown(t testing.TB, tables *engine.ClickHouse, special []*record.Contract) *town {
	t.Helper()
	w := &town{
		world:     &world{engine: tables},
		contracts: map[string]*record.Contract{}, transfers: map[string]*record.JettonTransfer{}, burns: map[string]*record.JettonBurn{}, nfts: map[string]*record.NFTTransfer{},
	}
	w.connect(t)
	w.fill(t, special)
	for _, table := range tablesOfContracts {
		w.exec(t, "INSERT INTO "+table+" SELECT * FROM "+table+" WHERE cityHash64(*) % 3 = 0 SETTINGS insert_deduplicate = 0")
	}
	return w
}

// fill brings a chain through the log and the real sink.
func (w *town) fill(t testing.TB, special []*record.Contract) {
	small := sink.DefaultConfiguration()
	small.MaxRows, small.MaxRest = 3000, 0 // more than one part
	producer, _, finish := w.startSink(t, small)
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 6_000, Holders: 600, Seed: 5})
	tokens, traces := synthetic.NewTokens(rows), synthetic.NewTraces()
	records := map[string][]*record.Record{}
	var last uint32
	for {
		b := rows.Next()
		if b == nil {
			break
		}
		headers, transactions, accounts := b.Records(0, 1)
		facts := tokens.Records(b, 1)[0]
		if b.First {
			facts = withContracts(b, facts, special)
		}
		w.learn(facts)
		for topic, list := range map[string][]*record.Record{
			schema.Headers.Name: headers, schema.Transactions.Name: transactions, schema.Accounts.Name: accounts, schema.Contracts.Name: facts, schema.Traces.Name: traces.Records(b, 1)[0],
		} {
			records[topic] = append(records[topic], list...)
		}
		last = b.Seqno
	}
	for topic, list := range records {
		if err := producer.Publish(t.Context(), topic, 0, list); err != nil {
			t.Fatal(err)
		}
	}
	finish(last)
}

// withContracts adds contracts to the records of a bundle.
func withContracts(b *synthetic.Bundle, records []*record.Record, special []*record.Contract) []*record.Record {
	batch := records[0].GetContracts()
	for _, c := range special {
		c.McSeqno, c.FirstMcSeqno, c.LastTransLt = b.Seqno, max(c.FirstMcSeqno, b.Seqno), max(c.LastTransLt, 1)
		batch.Contracts = append(batch.Contracts, c)
	}
	records[len(records)-1].GetSeal().Rows += uint64(len(special))
	return records
}

// learn replays what the tables are told.
func (w *town) learn(records []*record.Record) {
	at := func(account []byte, lt uint64) string { return fmt.Sprintf("%x %d", account, lt) }
	for _, r := range records {
		batch := r.GetContracts()
		for _, c := range batch.GetContracts() {
			w.contracts[string(c.Account)] = c
		}
		for _, j := range batch.GetJettonTransfers() {
			w.transfers[at(j.SourceWallet, j.Lt)] = j
		}
		for _, j := range batch.GetJettonBurns() {
			w.burns[at(j.Wallet, j.Lt)] = j
		}
		for _, n := range batch.GetNftTransfers() {
			w.nfts[at(n.Item, n.Lt)] = n
		}
	}
}

// rawOf is the raw form of an address.
func rawOf(a []byte) string { return string(address.AppendRaw(nil, a)) }

// list are the contracts that match, in order.
func (w *town) list(match func(*record.Contract) bool, compare func(a, b *record.Contract) int) (addresses []string) {
	var all []*record.Contract
	for _, c := range w.contracts {
		if match(c) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, compare)
	for _, c := range all {
		addresses = append(addresses, rawOf(c.Account))
	}
	return addresses
}

func byAddress(a, b *record.Contract) int { return bytes.Compare(a.Account, b.Account) }

func byFirst(a, b *record.Contract) int {
	return cmp.Or(cmp.Compare(a.FirstMcSeqno, b.FirstMcSeqno), byAddress(a, b))
}

func bigOf(magnitude []byte) *big.Int { return new(big.Int).SetBytes(magnitude) }

func byBalance(a, b *record.Contract) int {
	return cmp.Or(bigOf(a.JettonWallet.Balance).Cmp(bigOf(b.JettonWallet.Balance)), byAddress(a, b))
}

func reversed[T any](compare func(a, b T) int) func(a, b T) int {
	return func(a, b T) int { return compare(b, a) }
}

// page asks for a page of a list and says what identifies its rows.
func (w *town) page(path, list string, id func(map[string]any) string) (ids []string, next string) {
	w.Helper()
	answer := w.ask("/api/v3" + path)
	if answer.Code != http.StatusOK {
		w.Fatalf("%s: %d %s", path, answer.Code, answer.Body)
	}
	var a map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &a); err != nil {
		w.Fatal(path, err)
	}
	rows, ok := a[list].([]any)
	if !ok {
		w.Fatalf("%s: no list %s in %.200s", path, list, answer.Body)
	}
	for _, r := range rows {
		ids = append(ids, id(r.(map[string]any)))
	}
	next, _ = a["next_cursor"].(string)
	return ids, next
}

func addressIn(r map[string]any) string { return fmt.Sprint(r["address"]) }

// walks checks a list against what it has to hold: page by page with cursors, and
// with offsets.
func (w *town) walks(path, list string, id func(map[string]any) string, want []string, limit int) {
	w.Helper()
	w.walksByCursor(path, list, id, want, limit)
	w.pagesByOffset(path, list, id, want, limit)
}

// joined is a path that ends where a parameter may follow.
func joined(path string) string {
	if strings.Contains(path, "?") {
		return path + "&"
	}
	return path + "?"
}

func (w *town) walksByCursor(path, list string, id func(map[string]any) string, want []string, limit int) {
	w.Helper()
	var got []string
	cursor := ""
	for {
		some, next := w.page(fmt.Sprintf("%slimit=%d%s", joined(path), limit, cursor), list, id)
		if len(some) > limit {
			w.Fatalf("%s: %d rows on a page of %d", path, len(some), limit)
		}
		got = append(got, some...)
		if next == "" || len(got) > len(want)+limit {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
	w.equal(path+" by cursor", got, want)
}

// pagesByOffset asks for short pages on both sides of where a list is read in another way:
// some lists are up to an offset of 100, and those of contracts from 200 on.
func (w *town) pagesByOffset(path, list string, id func(map[string]any) string, want []string, limit int) {
	w.Helper()
	few := min(limit, 25)
	offsets := []int{1, 199, 200, len(want) - 1, len(want)}
	slices.Sort(offsets)
	for _, offset := range slices.Compact(offsets) {
		if offset < 0 || offset > len(want) { // all that lies behind the end is alike
			continue
		}
		some, _ := w.page(fmt.Sprintf("%slimit=%d&offset=%d", joined(path), few, offset), list, id)
		rest := want[min(offset, len(want)):]
		w.equal(fmt.Sprintf("%s from %d", path, offset), some, rest[:min(few, len(rest))])
	}
}

func (w *town) equal(what string, got, want []string) {
	w.Helper()
	if slices.Equal(got, want) {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	w.Fatalf("%s: %d rows instead of %d, other ones from row %d on:\n%v\nwant\n%v", what, len(got), len(want), i, got[i:min(i+3, len(got))], want[i:min(i+3, len(want))])
}

func (w *town) any(match func(*record.Contract) bool) *record.Contract {
	return w.contracts[string(w.first(match))]
}

func (w *town) first(match func(*record.Contract) bool) []byte {
	w.Helper()
	var found []byte
	for _, c := range w.contracts {
		if match(c) && (found == nil || bytes.Compare(c.Account, found) < 0) {
			found = c.Account
		}
	}
	if found == nil {
		w.Fatal("there is no such contract")
	}
	return found
}

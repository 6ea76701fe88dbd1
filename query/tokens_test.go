package query

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/engine/enginetest"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/internal/synthetic"
	"tonscribe/query/render"
	"tonscribe/schema"
	"tonscribe/schema/migrations"
	"tonscribe/schema/record"
	"tonscribe/sink"
)

// town is what the tables of contracts hold: the tokens of a synthetic chain in
// many parts that are not merged, a third of the rows twice, and contracts of all
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
	"contracts", "jetton_masters", "jetton_wallets", "nft_collections", "nft_items", "contract_links", "jetton_transfers", "jetton_transfers_by_owner",
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

func newTown(t testing.TB, special ...*record.Contract) *town {
	t.Helper()
	engine := enginetest.ClickHouse(t)
	if err := migrations.Up(t.Context(), engine.DSN(), migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	w := &town{
		world:     &world{tables: newClient(t, engine.DSN()), reader: newClient(t, engine.ReadOnlyDSN())},
		contracts: map[string]*record.Contract{}, transfers: map[string]*record.JettonTransfer{}, burns: map[string]*record.JettonBurn{}, nfts: map[string]*record.NFTTransfer{},
	}
	for _, table := range tablesOfContracts {
		w.exec(t, "SYSTEM STOP MERGES "+table)
	}
	w.fill(t, special)
	for _, table := range tablesOfContracts {
		w.exec(t, "INSERT INTO "+table+" SELECT * FROM "+table+" WHERE cityHash64(*) % 3 = 0 SETTINGS insert_deduplicate = 0")
	}
	w.server = w.serve(t, nil)
	return w
}

// fill brings a chain through the log and the real sink.
func (w *town) fill(t testing.TB, special []*record.Contract) {
	log := enginetest.Kafka(t)
	configuration := kafka.DefaultConfiguration()
	configuration.Brokers = []string{log.Address()}
	client := func() *kafka.Client {
		c, err := kafka.New(configuration, kafka.Dependencies{Report: report.Silent(), Dial: log.Dial, Epoch: log.Epoch()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	producer := client()
	if err := producer.EnsureTopics(t.Context(), schema.Topics); err != nil {
		t.Fatal(err)
	}
	small := sink.DefaultConfiguration()
	small.MaxRows = 400 // many parts
	s, err := sink.New(small, sink.Dependencies{Report: enginetest.Report(t), Kafka: client(), ClickHouse: w.tables})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 12_000, Seed: 5})
	tokens := synthetic.NewTokens(rows)
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
			schema.Headers.Name: headers, schema.Transactions.Name: transactions, schema.Accounts.Name: accounts, schema.Contracts.Name: facts,
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
	for w.watermark < last {
		if mark, err := clickhouse.ReadWatermark(t.Context(), w.tables.Conn()); err == nil {
			w.watermark = mark.MCSeqno
		}
		if t.Context().Err() != nil {
			t.Fatal("the sink did not finish")
		}
	}
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
func rawOf(a []byte) string { return string(render.RawAddress(nil, a)) }

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

func address(r map[string]any) string { return fmt.Sprint(r["address"]) }

// walks checks a list against what it has to hold: page by page with cursors, and
// with offsets.
func (w *town) walks(path, list string, id func(map[string]any) string, want []string, limit int) {
	w.Helper()
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	var got []string
	cursor := ""
	for {
		some, next := w.page(fmt.Sprintf("%s%slimit=%d%s", path, join, limit, cursor), list, id)
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
	for _, offset := range []int{1, limit, 150, 199, 200, 333, len(want) - 1, len(want), len(want) + 5} {
		if offset < 0 {
			continue
		}
		some, _ := w.page(fmt.Sprintf("%s%slimit=%d&offset=%d", path, join, limit, offset), list, id)
		rest := want[min(offset, len(want)):]
		w.equal(fmt.Sprintf("%s from %d", path, offset), some, rest[:min(limit, len(rest))])
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

func TestJettonListsEqualTheNewestFacts(t *testing.T) {
	w := newTown(t)
	isWallet := func(c *record.Contract) bool { return c.JettonWallet != nil }
	holders := map[string]int{}
	owned := map[string]int{}
	for _, c := range w.contracts {
		if isWallet(c) {
			holders[string(c.JettonWallet.Master)]++
			owned[string(c.JettonWallet.Owner)]++
		}
	}
	most := func(counts map[string]int) (key []byte) {
		for k, n := range counts {
			if n > counts[string(key)] || n == counts[string(key)] && k < string(key) {
				key = []byte(k)
			}
		}
		return key
	}
	master, owner := most(holders), most(owned)
	of := func(master []byte) func(*record.Contract) bool {
		return func(c *record.Contract) bool { return isWallet(c) && bytes.Equal(c.JettonWallet.Master, master) }
	}
	small := w.any(func(c *record.Contract) bool { return isWallet(c) && !bytes.Equal(c.JettonWallet.Master, master) }).JettonWallet.Master
	for _, m := range [][]byte{master, small} {
		path := "/jetton/wallets?jetton_address=" + rawOf(m)
		w.walks(path, "jetton_wallets", address, w.list(of(m), byFirst), 37)
		w.walks(path+"&sort=desc", "jetton_wallets", address, w.list(of(m), reversed(byBalance)), 37)
		w.walks(path+"&sort=asc", "jetton_wallets", address, w.list(of(m), byBalance), 100)
		w.walks(path+"&sort=desc&exclude_zero_balance=true", "jetton_wallets", address, w.list(func(c *record.Contract) bool {
			return of(m)(c) && len(c.JettonWallet.Balance) > 0
		}, reversed(byBalance)), 200)
	}
	w.walks("/jetton/wallets?sort=desc", "jetton_wallets", address, w.list(isWallet, reversed(byBalance)), 300)
	w.walks("/jetton/wallets", "jetton_wallets", address, w.list(isWallet, byFirst), 300)

	ofOwners := func(owners ...[]byte) func(*record.Contract) bool {
		return func(c *record.Contract) bool {
			return isWallet(c) && slices.ContainsFunc(owners, func(o []byte) bool { return bytes.Equal(o, c.JettonWallet.Owner) })
		}
	}
	other := w.any(func(c *record.Contract) bool { return isWallet(c) && !bytes.Equal(c.JettonWallet.Owner, owner) }).JettonWallet.Owner
	byOwner := func(rest func(a, b *record.Contract) int) func(a, b *record.Contract) int {
		return func(a, b *record.Contract) int {
			return cmp.Or(bytes.Compare(a.JettonWallet.Owner, b.JettonWallet.Owner), rest(a, b))
		}
	}
	path := "/jetton/wallets?owner_address=" + rawOf(owner)
	w.walks(path, "jetton_wallets", address, w.list(ofOwners(owner), byFirst), 3)
	w.walks(path+"&sort=desc", "jetton_wallets", address, w.list(ofOwners(owner), reversed(byBalance)), 3)
	w.walks(path+"&owner_address="+rawOf(other), "jetton_wallets", address, w.list(ofOwners(owner, other), byOwner(byFirst)), 2)
	w.walks(path+"&owner_address="+rawOf(other)+"&sort=asc", "jetton_wallets", address, w.list(ofOwners(owner, other), byOwner(byBalance)), 2)
	w.walks(path+"&jetton_address="+rawOf(master), "jetton_wallets", address, w.list(func(c *record.Contract) bool {
		return ofOwners(owner)(c) && of(master)(c)
	}, byFirst), 3)
	w.walks(path+"&jetton_address="+rawOf(master)+"&jetton_address="+rawOf(small)+"&sort=desc", "jetton_wallets", address, w.list(func(c *record.Contract) bool {
		return ofOwners(owner)(c) && (of(master)(c) || of(small)(c))
	}, reversed(byBalance)), 3)
	some := w.list(of(master), byAddress)[:20]
	w.walks("/jetton/wallets?sort=desc&address="+strings.Join(some, "&address="), "jetton_wallets", address, some, 7)

	isMaster := func(c *record.Contract) bool { return c.JettonMaster != nil }
	w.walks("/jetton/masters", "jetton_masters", address, w.list(isMaster, byFirst), 30)
	admin := w.any(isMaster).JettonMaster.Admin
	w.walks("/jetton/masters?admin_address="+rawOf(admin), "jetton_masters", address, w.list(func(c *record.Contract) bool {
		return isMaster(c) && bytes.Equal(c.JettonMaster.Admin, admin)
	}, byFirst), 1)
	w.walks("/jetton/masters?address="+rawOf(master)+"&admin_address="+rawOf(addressOf(9)), "jetton_masters", address, nil, 5)
}

func TestNFTListsEqualTheNewestFacts(t *testing.T) {
	w := newTown(t)
	isItem := func(c *record.Contract) bool { return c.NftItem != nil }
	owned := map[string]int{}
	for _, c := range w.contracts {
		if isItem(c) {
			owned[string(c.NftItem.Owner)]++
		}
	}
	var owner, other []byte
	for k, n := range owned {
		if n > owned[string(owner)] || n == owned[string(owner)] && k < string(owner) {
			owner = []byte(k)
		}
	}
	other = w.any(func(c *record.Contract) bool { return isItem(c) && !bytes.Equal(c.NftItem.Owner, owner) }).NftItem.Owner
	byIndex := func(a, b *record.Contract) int {
		return cmp.Or(bytes.Compare(a.NftItem.Collection, b.NftItem.Collection), bigOf(a.NftItem.Index).Cmp(bigOf(b.NftItem.Index)), byAddress(a, b))
	}
	byOwner := func(a, b *record.Contract) int {
		return cmp.Or(bytes.Compare(a.NftItem.Owner, b.NftItem.Owner), byIndex(a, b))
	}
	byLt := func(a, b *record.Contract) int {
		return cmp.Or(cmp.Compare(b.LastTransLt, a.LastTransLt), byAddress(b, a))
	}
	ofOwners := func(owners ...[]byte) func(*record.Contract) bool {
		return func(c *record.Contract) bool {
			return isItem(c) && slices.ContainsFunc(owners, func(o []byte) bool { return bytes.Equal(o, c.NftItem.Owner) })
		}
	}
	w.walks("/nft/items", "nft_items", address, w.list(isItem, byFirst), 50)
	w.walks("/nft/items?sort_by_last_transaction_lt=true", "nft_items", address, w.list(isItem, byLt), 50)
	path := "/nft/items?owner_address=" + rawOf(owner)
	w.walks(path, "nft_items", address, w.list(ofOwners(owner), byOwner), 3)
	w.walks(path+"&sort_by_last_transaction_lt=true", "nft_items", address, w.list(ofOwners(owner), byLt), 3)
	w.walks(path+"&owner_address="+rawOf(other), "nft_items", address, w.list(ofOwners(owner, other), byOwner), 3)
	collection := w.any(ofOwners(owner)).NftItem.Collection
	in := func(c *record.Contract) bool { return isItem(c) && bytes.Equal(c.NftItem.Collection, collection) }
	w.walks("/nft/items?collection_address="+rawOf(collection), "nft_items", address, w.list(in, byIndex), 2)
	w.walks("/nft/items?sort_by_last_transaction_lt=1&collection_address="+rawOf(collection), "nft_items", address, w.list(in, byLt), 2)
	w.walks("/nft/items?collection_address="+rawOf(collection)+"&index=1&index=0&index=700", "nft_items", address, w.list(func(c *record.Contract) bool {
		return in(c) && bigOf(c.NftItem.Index).Cmp(big.NewInt(1)) <= 0
	}, byIndex), 1)
	w.walks(path+"&collection_address="+rawOf(collection), "nft_items", address, w.list(func(c *record.Contract) bool { return in(c) && ofOwners(owner)(c) }, byIndex), 2)

	isCollection := func(c *record.Contract) bool { return c.NftCollection != nil }
	w.walks("/nft/collections", "nft_collections", address, w.list(isCollection, byFirst), 7)
	creator := w.any(isCollection).NftCollection.Owner
	w.walks("/nft/collections?owner_address="+rawOf(creator), "nft_collections", address, w.list(func(c *record.Contract) bool {
		return isCollection(c) && bytes.Equal(c.NftCollection.Owner, creator)
	}, byFirst), 2)
}

// transferRow is what lists of transfers are checked by.
type transferRow struct {
	account, source, destination, parent []byte
	lt                                   uint64
	now                                  uint32
	aborted                              bool
}

func transferID(r map[string]any) string {
	for _, name := range []string{"source_wallet", "jetton_wallet", "nft_address"} {
		if a, ok := r[name]; ok {
			return fmt.Sprint(a, " ", r["transaction_lt"])
		}
	}
	return "?"
}

func idsOf(rows []transferRow, match func(*transferRow) bool, byTime, descending bool) (ids []string) {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b transferRow) int {
		c := cmp.Or(cmp.Compare(a.lt, b.lt), bytes.Compare(a.account, b.account))
		if byTime {
			c = cmp.Or(cmp.Compare(a.now, b.now), c)
		}
		if descending {
			return -c
		}
		return c
	})
	for i := range rows {
		if match(&rows[i]) {
			ids = append(ids, fmt.Sprintf("%s %d", rawOf(rows[i].account), rows[i].lt))
		}
	}
	return ids
}

func TestTransferListsEqualWhatWasTold(t *testing.T) {
	w := newTown(t)
	kinds := map[string][]transferRow{}
	for _, j := range w.transfers {
		if !j.Aborted {
			kinds["jetton_transfers"] = append(kinds["jetton_transfers"], transferRow{j.SourceWallet, j.Source, j.Destination, j.Master, j.Lt, j.Now, false})
		}
	}
	for _, j := range w.burns {
		kinds["jetton_burns"] = append(kinds["jetton_burns"], transferRow{j.Wallet, j.Owner, nil, j.Master, j.Lt, j.Now, j.Aborted})
	}
	for _, n := range w.nfts {
		kinds["nft_transfers"] = append(kinds["nft_transfers"], transferRow{n.Item, n.OldOwner, n.NewOwner, n.Collection, n.Lt, n.Now, n.Aborted})
	}
	for name, rows := range kinds {
		account, parent := "jetton_wallet", "jetton_master"
		if name == "nft_transfers" {
			account, parent = "item_address", "collection_address"
		}
		path := "/" + strings.Replace(name, "_", "/", 1)
		check := func(query string, match func(*transferRow) bool, byTime bool) {
			t.Helper()
			for _, descending := range []bool{true, false} {
				sort := "&sort=asc"
				if descending {
					sort = ""
				}
				w.walks(path+"?"+query+sort, name, transferID, idsOf(rows, match, byTime, descending), 149)
			}
		}
		owner, other := rows[0].source, rows[1].source
		one := rows[len(rows)/2]
		is := func(a, b []byte) bool { return bytes.Equal(a, b) }
		all := func(*transferRow) bool { return true }
		check("", all, false)
		check("start_utime=1", all, true)
		check(fmt.Sprintf("start_utime=%d&end_utime=%d", one.now-50, one.now+50), func(r *transferRow) bool { return r.now >= one.now-50 && r.now <= one.now+50 }, true)
		check(fmt.Sprintf("start_lt=%d", one.lt), func(r *transferRow) bool { return r.lt >= one.lt }, false)
		either := func(r *transferRow) bool { return is(r.source, owner) || is(r.destination, owner) }
		check("owner_address="+rawOf(owner), either, false)
		check("address="+rawOf(owner), either, false)
		check("owner_address="+rawOf(owner)+"&end_utime=4000000000", either, true)
		check("owner_address="+rawOf(owner)+"&owner_address="+rawOf(other), func(r *transferRow) bool {
			return either(r) || is(r.source, other) || is(r.destination, other)
		}, false)
		check(account+"="+rawOf(one.account), func(r *transferRow) bool { return is(r.account, one.account) }, false)
		check(account+"="+rawOf(one.account)+"&start_utime=5", func(r *transferRow) bool { return is(r.account, one.account) }, true)
		check(parent+"="+rawOf(one.parent), func(r *transferRow) bool { return is(r.parent, one.parent) }, false)
		check(parent+"="+rawOf(one.parent)+"&end_utime=4000000000", func(r *transferRow) bool { return is(r.parent, one.parent) }, true)
		check(parent+"="+rawOf(one.parent)+"&owner_address="+rawOf(one.source), func(r *transferRow) bool {
			return is(r.parent, one.parent) && (is(r.source, one.source) || is(r.destination, one.source))
		}, false)
		if name == "jetton_burns" {
			continue
		}
		check("direction=in&owner_address="+rawOf(owner), func(r *transferRow) bool { return is(r.destination, owner) }, false)
		check("direction=out&owner_address="+rawOf(owner), func(r *transferRow) bool { return is(r.source, owner) }, false)
		check("direction=sideways&owner_address="+rawOf(owner)+"&start_utime=1", func(r *transferRow) bool { return is(r.source, owner) }, true)
		check("direction=in", all, false)
	}
}

package sink

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// tokens inserts the contracts of a synthetic chain in several parts, without a
// log, and gives all that was published.
func tokens(t testing.TB, tables *clickhouse.Client, transactions, parts int) (all []*record.ContractBatch) {
	t.Helper()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: transactions, Seed: 11})
	source := synthetic.NewTokens(rows)
	for part := range parts {
		f := newFeed(t, DefaultConfiguration(), schema.Contracts)
		for rows.Made() < transactions*(part+1)/parts {
			records := source.Records(rows.Next(), 1)[0]
			addAll(t, f, records)
			for _, r := range records {
				if batch := r.GetContracts(); batch != nil {
					all = append(all, batch)
				}
			}
		}
		insertFeed(t, tables, f, strconv.Itoa(part))
	}
	return all
}

// newest reads the newest record of each key of a table.
func newest(t testing.TB, tables *clickhouse.Client, table, key string) map[string]string {
	t.Helper()
	return pairs(t, tables, fmt.Sprintf("SELECT %s, argMax(record, mc_seqno) FROM %s GROUP BY 1", key, table))
}

// equalRecords compares records by key with what was published.
func equalRecords[R interface{ MarshalVT() ([]byte, error) }](t testing.TB, what string, got map[string]string, want map[string]R) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%s: %d in the table, %d published", what, len(got), len(want))
	}
	for key, r := range want {
		raw, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal([]byte(got[key]), raw) {
			t.Fatalf("%s %x: the row has another record", what, key)
		}
	}
}

func TestContractsAndTransfersArriveAndTheNewestCounts(t *testing.T) {
	tables := newTables(t)
	all := tokens(t, tables, 20_000, 4)
	contracts, transfers, burns, nfts := map[string]*record.Contract{}, map[string]*record.JettonTransfer{}, map[string]*record.JettonBurn{}, map[string]*record.NFTTransfer{}
	at := func(account []byte, lt uint64) string { return fmt.Sprintf("%X %d", schema.AccountID(account), lt) }
	for _, batch := range all {
		for _, c := range batch.Contracts {
			contracts[fmt.Sprintf("%X", schema.AccountID(c.Account))] = c
		}
		for _, j := range batch.JettonTransfers {
			transfers[at(j.SourceWallet, j.Lt)] = j
		}
		for _, j := range batch.JettonBurns {
			burns[at(j.Wallet, j.Lt)] = j
		}
		for _, n := range batch.NftTransfers {
			nfts[at(n.Item, n.Lt)] = n
		}
	}
	key := "concat(hex(account), ' ', toString(lt))"
	equalRecords(t, "contract", newest(t, tables, "contracts", "hex(account)"), contracts)
	equalRecords(t, "jetton transfer", newest(t, tables, "jetton_transfers", key), transfers)
	equalRecords(t, "jetton burn", newest(t, tables, "jetton_burns", key), burns)
	equalRecords(t, "NFT transfer", newest(t, tables, "nft_transfers", key), nfts)

	for name, statement := range map[string]string{
		"wallets with another balance than their contract's": `SELECT count() FROM (SELECT account, argMax(balance, mc_seqno) AS b, argMax(lt, mc_seqno) AS l FROM jetton_wallets GROUP BY account) AS w
			INNER JOIN (SELECT account, argMax(lt, mc_seqno) AS l FROM contracts WHERE roles = 2 GROUP BY account) AS c ON w.account = c.account WHERE w.l != c.l`,
		"transfers that are not in the nine lists of theirs": `SELECT count() FROM (SELECT workchain, account_prefix, lt, countDistinct(list) AS n FROM transfers_by_party
			WHERE (workchain, account_prefix, lt) IN (SELECT workchain, account_prefix, lt FROM jetton_transfers) GROUP BY 1, 2, 3) WHERE n != 9 AND n != 8`, // to oneself
		"transfers that are in no list": `SELECT count() FROM jetton_transfers WHERE NOT aborted AND (workchain, account_prefix, lt) NOT IN (SELECT workchain, account_prefix, lt FROM transfers_by_party)`,
		"aborted transfers in lists":    `SELECT count() FROM jetton_transfers WHERE aborted AND (workchain, account_prefix, lt) IN (SELECT workchain, account_prefix, lt FROM transfers_by_party)`,
		"transfers that are not in the list with the number of their wallet, as ClickHouse counts it": `SELECT count() FROM jetton_transfers WHERE NOT aborted AND (lt, xxHash64(concat(char(0), char(3),
			reinterpretAsFixedString(workchain), reinterpretAsFixedString(account_prefix), reinterpretAsFixedString(toInt32(-2147483648)), reinterpretAsFixedString(toUInt64(0))))) NOT IN (SELECT lt, list FROM transfers_by_party)`,
		"transfers that are not in the list with the number of their jetton": `SELECT count() FROM jetton_transfers WHERE NOT aborted AND (lt, xxHash64(concat(char(0), char(2),
			reinterpretAsFixedString(toInt32(-2147483648)), reinterpretAsFixedString(toUInt64(0)), reinterpretAsFixedString(master_workchain), reinterpretAsFixedString(master_prefix)))) NOT IN (SELECT lt, list FROM transfers_by_party)`,
		"burns that are in no list": `SELECT count() FROM jetton_burns WHERE (workchain, account_prefix, lt) NOT IN (SELECT workchain, account_prefix, lt FROM transfers_by_party)`,
		"transfers without records in two lists": `SELECT count() FROM (SELECT workchain, account_prefix, lt, countDistinctIf(list, record != '') AS n FROM transfers_by_party
			WHERE (workchain, account_prefix, lt) IN (SELECT workchain, account_prefix, lt FROM jetton_transfers) GROUP BY 1, 2, 3) WHERE n != 2 AND n != 1`,
	} {
		var n uint64
		if err := tables.Conn().QueryRow(t.Context(), statement).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d %s, %v", n, name, err)
		}
	}
}

// What is nothing any more leaves the tables of all roles.
func TestContractThatIsNothingAnyMoreIsTakenOutOfEveryTable(t *testing.T) {
	tables := newTables(t)
	account := append(make([]byte, 4), bytes.Repeat([]byte{7}, 32)...)
	f := newFeed(t, DefaultConfiguration(), schema.Contracts)
	for seqno, c := range []*record.Contract{
		{JettonWallet: &record.JettonWallet{Balance: []byte{9}, Owner: account, Master: account}},
		{},
	} {
		c.Account, c.McSeqno, c.FirstMcSeqno = account, uint32(seqno+1), 1
		addAll(t, f, []*record.Record{{McSeqno: c.McSeqno, Content: &record.Record_Contracts{Contracts: &record.ContractBatch{Contracts: []*record.Contract{c}}}}})
	}
	insertFeed(t, tables, f, "1")
	for _, table := range []string{"jetton_masters", "jetton_wallets", "nft_collections", "nft_items"} {
		var active uint64
		statement := "SELECT countIf(active) FROM " + table + " FINAL WHERE account_prefix = 0x0707070707070707"
		if err := tables.Conn().QueryRow(t.Context(), statement).Scan(&active); err != nil || active != 0 {
			t.Errorf("%s: %d active rows, %v", table, active, err)
		}
	}
	var roles uint32
	if err := tables.Conn().QueryRow(t.Context(), "SELECT roles FROM contracts FINAL").Scan(&roles); err != nil || roles != 0 {
		t.Errorf("roles %b, %v", roles, err)
	}
}

func TestNumbersOfMoreThan256BitsAreRefused(t *testing.T) {
	account := append(make([]byte, 4), bytes.Repeat([]byte{7}, 32)...)
	large := bytes.Repeat([]byte{1}, 33)
	for name, batch := range map[string]*record.ContractBatch{
		"balance": {Contracts: []*record.Contract{{Account: account, McSeqno: 1, JettonWallet: &record.JettonWallet{Balance: large}}}},
		"supply":  {Contracts: []*record.Contract{{Account: account, McSeqno: 1, JettonMaster: &record.JettonMaster{TotalSupply: large}}}},
		"index":   {Contracts: []*record.Contract{{Account: account, McSeqno: 1, NftItem: &record.NFTItem{Index: large}}}},
		"amount":  {JettonTransfers: []*record.JettonTransfer{{SourceWallet: account, Amount: large}}},
		"burn":    {JettonBurns: []*record.JettonBurn{{Wallet: account, Amount: large}}},
		"address": {NftTransfers: []*record.NFTTransfer{{}}},
	} {
		r := &record.Record{Content: &record.Record_Contracts{Contracts: batch}}
		raw, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newFeed(t, DefaultConfiguration(), schema.Contracts).Add(r, raw); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestLinksOfAllContentsOfAContractAreTold(t *testing.T) {
	tables := newTables(t)
	account := append(make([]byte, 4), bytes.Repeat([]byte{7}, 32)...)
	content := func(attributes ...string) *record.TokenContent {
		c := &record.TokenContent{}
		for i := 0; i < len(attributes); i += 2 {
			c.Attributes = append(c.Attributes, &record.TokenAttribute{Name: attributes[i], Value: attributes[i+1]})
		}
		return c
	}
	f := newFeed(t, DefaultConfiguration(), schema.Contracts)
	for seqno, c := range []*record.Contract{
		{JettonMaster: &record.JettonMaster{Content: content("name", "Gem", "uri", "https://a/1")}, NftItem: &record.NFTItem{Content: content("uri", "https://a/2")}},
		{NftCollection: &record.NFTCollection{Content: content("uri", "https://a/3")}, NftItem: &record.NFTItem{Content: content("uri", "https://a/3")}},
		{JettonMaster: &record.JettonMaster{Content: content("name", "Gem")}, NftCollection: &record.NFTCollection{}},
		{JettonWallet: &record.JettonWallet{Owner: account, Master: account}},
	} {
		c.Account, c.McSeqno, c.FirstMcSeqno = account, uint32(seqno+1), 1
		addAll(t, f, []*record.Record{{McSeqno: c.McSeqno, Content: &record.Record_Contracts{Contracts: &record.ContractBatch{Contracts: []*record.Contract{c}}}}})
	}
	insertFeed(t, tables, f, "1")
	var got string
	if err := tables.Conn().QueryRow(t.Context(), "SELECT toString(groupArray((mc_seqno, link))) FROM (SELECT * FROM metadata_links ORDER BY mc_seqno, link)").Scan(&got); err != nil {
		t.Fatal(err)
	}
	if want := "[(1,'https://a/1'),(1,'https://a/2'),(2,'https://a/3')]"; got != want {
		t.Errorf("links are %s, want %s", got, want)
	}
}

package memory_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	house "tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
	"tonscribe/query/memory"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// Every condition that a statement can have finds the same rows in memory as
// ClickHouse finds in its tables.
func TestRowsInMemoryAreThoseThatClickHouseFinds(t *testing.T) {
	engine := enginetest.Tables(t)
	c := house.DefaultConfiguration()
	c.DSN = engine.DSN()
	client, err := house.New(c, house.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	random := rand.New(rand.NewPCG(1, 2))
	g := &generator{random}
	b := memory.NewBundle(70)
	for topic, r := range g.records() {
		payload, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		buffered, err := table.NewFeed(topic, table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		taken, err := table.NewFeed(topic, table.Options{Take: b.Add})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []*table.Feed{buffered, taken} {
			if _, err := f.Add(r, payload); err != nil {
				t.Fatal(err)
			}
		}
		for _, rows := range buffered.Buffers() {
			insert := house.Insert{Table: rows.Table().Name, Token: topic + rows.Table().Name}
			for _, v := range rows.Values() {
				insert.Columns = append(insert.Columns, house.Column{Name: v.Column, Values: v.Slice})
			}
			if err := client.Insert(t.Context(), insert); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.Sort()
	for _, of := range table.All {
		if of == &table.Seals.Table || of == &table.Progress.Table {
			continue // they are not made of a bundle's records
		}
		all := slices.Collect(b.All(of))
		if len(all) < 3 {
			t.Fatalf("%s: %d rows, want some to try conditions on", of.Name, len(all))
		}
		found := 0
		for range 25 {
			conditions := g.conditions(of, all)
			m, err := memory.Compile(of, conditions)
			if err != nil {
				t.Fatal(err)
			}
			var have []uint64
			for row := range b.Find(of, m) {
				have = append(have, table.HashOf(row.Words...))
			}
			want := selected(t, client.Conn(), of, conditions)
			slices.Sort(have)
			if have = slices.Compact(have); !slices.Equal(have, want) {
				t.Errorf("%s WHERE %s: %d rows in memory, ClickHouse has %d", of.Name, conditions, len(have), len(want))
			}
			found += len(want)
		}
		if found == 0 {
			t.Errorf("%s: no condition found a row", of.Name)
		}
	}
}

func TestConditionsThatOnlyClickHouseCanTellAreRefused(t *testing.T) {
	for _, c := range []sql.Condition{
		sql.Text("1"), sql.Is("nothing", 1), sql.Is("path", sql.Name("nowhere")), sql.Compare{Column: "lt", Sign: "LIKE", Value: 1}, sql.Any("toUInt64(key)", []uint64{1}),
	} {
		if _, err := memory.Compile(&table.TransactionsIndex.Table, sql.Conditions{c}); err == nil {
			t.Errorf("%s is taken, want an error", c)
		}
	}
	if _, err := memory.Compile(&table.TransactionsIndex.Table, sql.Conditions{sql.Narrows("key IN (SELECT 1)")}); err != nil {
		t.Errorf("what only narrows: %v, want nil", err)
	}
}

// selected are the hashes of the rows that ClickHouse finds.
func selected(t *testing.T, conn clickhouse.Conn, of *table.Table, c sql.Conditions) (hashes []uint64) {
	t.Helper()
	rows, err := conn.Query(context.Background(), fmt.Sprintf("SELECT DISTINCT %s AS h FROM %s WHERE %s ORDER BY h", of.HashSQL(), of.Name, c))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var h uint64
		if err := rows.Scan(&h); err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, h)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return hashes
}

// generator makes records and conditions with few different values, so that many
// rows share them.
type generator struct{ *rand.Rand }

const accounts = 12

func (g *generator) hash() []byte {
	h := make([]byte, 32)
	for i := range h {
		h[i] = byte(g.Uint32())
	}
	return h
}

func (g *generator) address() []byte { return account(g.IntN(accounts)) }

func account(n int) []byte {
	a := make([]byte, 36)
	if n%5 == 0 {
		binary.BigEndian.PutUint32(a, 1<<32-1)
	}
	for i := 4; i < len(a); i++ {
		a[i] = byte(37*n + i)
	}
	return a
}

func (g *generator) message(kind record.Message_Kind) *record.Message {
	m := &record.Message{Hash: g.hash(), BodyHash: g.hash(), Kind: kind, Value: uint64(g.IntN(4)), CreatedLt: uint64(g.IntN(6)), CreatedAt: uint32(g.IntN(5))}
	if kind != record.Message_EXTERNAL_IN {
		m.Source = g.address()
	}
	if kind != record.Message_EXTERNAL_OUT {
		m.Destination = g.address()
	}
	if g.IntN(2) == 0 {
		opcode := uint32(g.IntN(3))
		m.Opcode = &opcode
	}
	return m
}

func (g *generator) records() map[string]*record.Record {
	blocks, transactions := &record.BlockBatch{}, &record.TransactionBatch{}
	states, contracts, traces := &record.AccountBatch{}, &record.ContractBatch{}, &record.TraceBatch{}
	for i := range 60 {
		lt, now := uint64(i), uint32(g.IntN(9)) // one row for each key: ClickHouse keeps one
		blocks.Blocks = append(blocks.Blocks, &record.Block{McSeqno: 70, Id: &record.BlockId{Workchain: int32(-g.IntN(2)), Shard: 1 << (61 + g.IntN(3)), Seqno: uint32(i), RootHash: g.hash(), FileHash: g.hash()}, GenUtime: now, StartLt: lt, EndLt: lt + 1})
		tx := &record.Transaction{Account: g.address(), Lt: lt, Hash: g.hash(), McSeqno: 70, Block: &record.BlockRef{Shard: 1 << (61 + g.IntN(3)), Seqno: uint32(g.IntN(4))}, Now: now,
			Aborted: g.IntN(2) == 0, OutMsgs: []*record.Message{g.message(record.Message_INTERNAL), g.message(record.Message_EXTERNAL_OUT)}, TotalFees: uint64(g.IntN(3)),
			Compute: &record.ComputePhase{ExitCode: int32(g.IntN(5) - 2)}}
		if tx.InMsg = g.message(record.Message_INTERNAL); i%7 == 0 {
			tx.InMsg = g.message(record.Message_EXTERNAL_IN)
		}
		tx.InMsg.Destination = tx.Account
		for _, m := range tx.OutMsgs {
			m.Source = tx.Account
		}
		transactions.Transactions = append(transactions.Transactions, tx)
		status := record.AccountStatus(g.IntN(4))
		states.Accounts = append(states.Accounts, &record.Account{Account: account(i), McSeqno: 70, LastTransLt: lt, Now: now, Hash: g.hash(), State: &record.AccountState{Status: status, Balance: uint64(g.IntN(5))}})
		states.Codes = append(states.Codes, &record.Code{Hash: g.hash(), Methods: []uint32{1, uint32(g.IntN(3))}, MethodsKnown: g.IntN(2) == 0, Boc: g.hash()})
		content := &record.TokenContent{Attributes: []*record.TokenAttribute{{Name: "uri", Value: fmt.Sprint("https://", g.IntN(3))}}}
		contracts.Contracts = append(contracts.Contracts, &record.Contract{
			Account: account(2 * i), McSeqno: 70, FirstMcSeqno: uint32(g.IntN(5)), LastTransLt: lt,
			JettonMaster:  &record.JettonMaster{TotalSupply: g.hash()[:g.IntN(33)], Mintable: g.IntN(2) == 0, Admin: g.address(), Content: content},
			JettonWallet:  &record.JettonWallet{Balance: []byte{byte(g.IntN(3))}, Owner: g.address(), Master: g.address()},
			NftCollection: &record.NFTCollection{Owner: g.address(), NextItemIndex: []byte{byte(g.IntN(3))}},
			NftItem:       &record.NFTItem{Index: []byte{byte(g.IntN(3)), 0}, Collection: g.address(), Owner: g.address()},
			Multisig:      &record.Multisig{Signers: [][]byte{g.address(), g.address()}},
		}, &record.Contract{Account: account(2*i + 1), McSeqno: 70})
		contracts.Past = append(contracts.Past, &record.Contract{Account: account(2 * i), McSeqno: 70, CodeHash: g.hash()})
		contracts.JettonTransfers = append(contracts.JettonTransfers, &record.JettonTransfer{SourceWallet: g.address(), Lt: lt, TransactionHash: g.hash(), Now: now, McSeqno: 70, TransactionMcSeqno: 70,
			Amount: []byte{1}, Source: g.address(), Destination: g.address(), Master: g.address(), Aborted: i%5 == 0})
		contracts.JettonBurns = append(contracts.JettonBurns, &record.JettonBurn{Wallet: g.address(), Lt: lt, TransactionHash: g.hash(), Now: now, McSeqno: 70, TransactionMcSeqno: 70, Owner: g.address(), Master: g.address()})
		contracts.NftTransfers = append(contracts.NftTransfers, &record.NFTTransfer{Item: g.address(), Lt: lt, TransactionHash: g.hash(), Now: now, McSeqno: 70, TransactionMcSeqno: 70, OldOwner: g.address(), NewOwner: g.address()})
		accounts := [][]byte{g.address(), g.address()}
		slices.SortFunc(accounts, bytes.Compare)
		accounts = slices.CompactFunc(accounts, bytes.Equal)
		traces.Traces = append(traces.Traces, &record.TraceStep{
			Trace:        &record.Trace{Id: tx.Hash, ExternalHash: g.hash(), McSeqnoStart: 70, McSeqnoEnd: 70, StartLt: lt, EndLt: lt + uint64(g.IntN(3)), EndUtime: now, Nodes: uint32(1 + g.IntN(2)), PendingEdges: uint32(g.IntN(6) / 5)},
			Transactions: []*record.TraceTransaction{{Account: tx.Account, Lt: lt, Hash: tx.Hash, McSeqno: 70}}, Accounts: accounts,
			Actions: []*record.Action{{Id: g.hash(), Type: []string{"ton_transfer", "nft_mint"}[g.IntN(2)], Success: g.IntN(2) == 0, StartLt: lt, EndLt: lt, StartUtime: now, EndUtime: now,
				Accounts: accounts, Since: uint32(1 + g.IntN(3)), Until: uint32(253 + g.IntN(3)), Details: []*record.ActionDetail{
					{Name: "source", Value: &record.ActionDetail_Bytes{Bytes: g.address()}}, {Name: "value", Value: &record.ActionDetail_Unsigned{Unsigned: uint64(g.IntN(4))}}}}},
		})
	}
	return map[string]*record.Record{
		schema.Headers.Name:      {Content: &record.Record_Blocks{Blocks: blocks}},
		schema.Transactions.Name: {Content: &record.Record_Transactions{Transactions: transactions}},
		schema.Accounts.Name:     {Content: &record.Record_Accounts{Accounts: states}},
		schema.Contracts.Name:    {Content: &record.Record_Contracts{Contracts: contracts}},
		schema.Traces.Name:       {Content: &record.Record_Traces{Traces: traces}},
	}
}

// conditions are some that rows of a table meet, often.
func (g *generator) conditions(of *table.Table, all []memory.Row) (c sql.Conditions) {
	for range 1 + g.IntN(3) {
		like, other := all[g.IntN(len(all))].Words, all[g.IntN(len(all))].Words
		columns := g.columns(of)
		first := columns[0]
		switch g.IntN(6) {
		case 0: // a beginning of the key
			for _, name := range of.Key[:1+g.IntN(len(of.Key))] {
				if place, _ := of.Place(name); canCompare(place) {
					c.Add(sql.Is(name, value(place, like)))
				}
			}
		case 1:
			c.Add(sql.Is(first.Name, value(first, like)))
		case 2:
			if first.Words == 1 && first.Type != "Bool" && !named(first) {
				c.Add(sql.Compare{Column: first.Name, Sign: []string{">=", "<=", ">", "<"}[g.IntN(4)], Value: value(first, like)})
			}
		case 3:
			among := sql.Among{Columns: []string{first.Name}, Tuples: [][]any{{value(first, like)}, {value(first, other)}}}
			if second := columns[len(columns)-1]; first.Words+second.Words <= 4 && second.Name != first.Name {
				among = sql.Among{Columns: []string{first.Name, second.Name}, Tuples: [][]any{{value(first, like), value(second, like)}, {value(first, other), value(second, other)}}}
			}
			c.Add(among)
		case 4:
			for _, place := range columns {
				if place.Type == "Bool" {
					c.Add(sql.Flag{Column: place.Name, Value: g.IntN(2) == 0})
					break
				}
			}
		case 5:
			begin := sql.NotBefore{Descending: g.IntN(2) == 0}
			for _, name := range of.Key {
				if place, _ := of.Place(name); place.Words == 1 && canCompare(place) && !named(place) {
					begin.Columns, begin.Values = append(begin.Columns, name), append(begin.Values, value(place, like))
				}
			}
			if len(begin.Columns) > 0 {
				c.Add(begin)
			}
		}
	}
	return c
}

// columns are those that can be compared, in any order.
func (g *generator) columns(of *table.Table) (list []table.Place) {
	for _, column := range of.Columns {
		if place, ok := of.Place(column.Name); ok && canCompare(place) && !column.Alias {
			list = append(list, place)
		}
	}
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func canCompare(p table.Place) bool {
	return p.Type != "String" && p.Type[:3] != "Arr" && p.Type[:3] != "Low"
}

func named(p table.Place) bool { return p.Type[:4] == "Enum" }

// value is what a row has in a column, as a statement has it.
func value(p table.Place, row []uint64) any {
	words := row[p.At : p.At+p.Words]
	switch {
	case p.Type == "Bool":
		return words[0] == 1
	case named(p):
		return int8(words[0])
	case p.Type == "UInt256":
		var n sql.Uint256
		for i, w := range words {
			binary.BigEndian.PutUint64(n[24-8*i:], w)
		}
		return n
	case p.Words == 4:
		var h [32]byte
		for i, w := range words {
			binary.LittleEndian.PutUint64(h[8*i:], w)
		}
		return sql.Bytes(h[:])
	case p.Signed:
		return int64(words[0])
	}
	return words[0]
}

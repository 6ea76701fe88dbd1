package table_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// migrated is an empty database with all tables.
func migrated(t testing.TB) *clickhouse.Client {
	t.Helper()
	dsn := enginetest.Tables(t).DSN()
	return clienttest.ClickHouse(t, dsn)
}

func TestAMigratedDatabaseHasTheTablesAsTheyAreDeclared(t *testing.T) {
	db := migrated(t)
	for _, declared := range table.All {
		var names, types, aliases []string
		if err := db.Conn().QueryRow(t.Context(), `SELECT groupArray(name), groupArray(type), groupArrayIf(name, default_kind = 'ALIAS')
			FROM (SELECT * FROM system.columns WHERE database = currentDatabase() AND table = ? ORDER BY position)`, declared.Name).Scan(&names, &types, &aliases); err != nil {
			t.Fatal(err)
		}
		var wantNames, wantTypes, wantAliases []string
		for _, c := range declared.Columns {
			wantNames, wantTypes = append(wantNames, c.Name), append(wantTypes, c.Type)
			if c.Alias {
				wantAliases = append(wantAliases, c.Name)
			}
		}
		for what, sides := range map[string][2][]string{"columns": {names, wantNames}, "types": {types, wantTypes}, "computed columns": {aliases, wantAliases}} {
			if !slices.Equal(sides[0], sides[1]) {
				t.Errorf("%s: %s are\n%v, declared\n%v", declared.Name, what, sides[0], sides[1])
			}
		}
		var key, engine string
		if err := db.Conn().QueryRow(t.Context(), "SELECT sorting_key, engine_full FROM system.tables WHERE database = currentDatabase() AND name = ?", declared.Name).Scan(&key, &engine); err != nil {
			t.Fatal(err)
		}
		if key != declared.KeySQL() {
			t.Errorf("%s: the key is %s, declared %s", declared.Name, key, declared.KeySQL())
		}
		newest := ""
		if rest, has := strings.CutPrefix(engine, "ReplacingMergeTree("); has {
			newest, _, _ = strings.Cut(rest, ")")
		}
		want := declared.Newest
		if slices.Contains(names, "gone") && slices.Contains(names, "revision") {
			want += ", gone"
		}
		if newest != want {
			t.Errorf("%s: the engine is %s, declared newest %q", declared.Name, engine, declared.Newest)
		}
	}
}

// hashes are those of the rows that a buffer has.
func hashes(name string) (all []uint64) {
	row := table.Seal{Record: seal, Topic: "headers", Partition: 2, Partitions: 4}
	hashed[*table.Block](&all, name, table.Blocks, table.BlocksIndex)(must(table.NewBlock(block, nil)))
	var tx table.Transaction
	if err := tx.Set(transaction); err != nil {
		panic(err)
	}
	hashed[*table.Transaction](&all, name, table.Transactions, table.TransactionsIndex)(&tx)
	tx.Ends(hashed[*table.MessageEnd](&all, name, table.MessagesIndex, table.MessagesByAccount))
	hashed[*table.Account](&all, name, table.Accounts, table.AccountsByBalance)(must(table.NewAccount(account, nil, false)))
	if name == table.Codes.Name {
		all = append(all, table.Codes.Hash(&table.Code{Code: code}))
	}
	c := must(table.NewContract(contract, nil))
	hashed[*table.Contract](&all, name, table.Contracts)(c)
	for _, r := range table.Roles {
		hashed[*table.Contract](&all, name, r.Of)(c)
	}
	c.Links(hashed[*table.Link](&all, name, table.ContractLinks))
	hashed[*table.Contract](&all, name, table.PastContracts)(must(table.NewContract(past, nil)))
	c.Documents(hashed[*table.DocumentLink](&all, name, table.MetadataLinks))
	for kind, record := range []interface{ MarshalVT() ([]byte, error) }{schema.JettonTransfer: jettonTransfer, schema.JettonBurn: jettonBurn, schema.NFTTransfer: nftTransfer} {
		o := must(table.ReadTransfer(schema.TransferKind(kind), must(record.MarshalVT())))
		hashed[*table.Transfer](&all, name, table.Transfers[kind])(o)
		o.Lists(hashed[*table.ListEntry](&all, name, table.TransfersByParty))
	}
	for _, s := range []*record.TraceStep{step, open} {
		o := must(table.NewTraceStep(s, must(s.MarshalVT())))
		o.Each(hashed[*table.TraceOf](&all, name, table.TransactionTraces))
		o.Rows(hashed[*table.TraceRow](&all, name, table.Traces))
		o.Lists(hashed[*table.ListedTrace](&all, name, table.TracesByList))
		o.EachAction(hashed[*table.ActionRow](&all, name, table.Actions))
		o.EachAction(func(a *table.ActionRow) { a.Lists(hashed[*table.ListedAction](&all, name, table.ActionsByList)) })
	}
	hashed[table.Seal](&all, name, table.Seals, table.Progress)(row)
	return all
}

func hashed[R any](all *[]uint64, name string, tables ...*table.Of[R]) func(R) {
	return func(row R) {
		for _, of := range tables {
			if of.Name == name {
				of.Each(row, func(r R) { *all = append(*all, of.Hash(r)) })
			}
		}
	}
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func TestClickHouseGivesTheHashesThatRowsHave(t *testing.T) {
	db := migrated(t)
	for _, b := range filled(t) {
		name := b.Table().Name
		insert := clickhouse.Insert{Table: name, Token: name}
		for _, v := range b.Values() {
			insert.Columns = append(insert.Columns, clickhouse.Column{Name: v.Column, Values: v.Slice})
		}
		if err := db.Insert(context.Background(), insert); err != nil {
			t.Fatal(err)
		}
		var have []uint64
		if err := db.Conn().QueryRow(t.Context(), fmt.Sprintf("SELECT groupArray(%s) FROM %s", b.Table().HashSQL(), name)).Scan(&have); err != nil {
			t.Fatal(err)
		}
		want := hashes(name)
		slices.Sort(have)
		slices.Sort(want)
		if len(want) == 0 || !slices.Equal(have, want) {
			t.Errorf("%s: hashes are %x, want %x", name, have, want)
		}
	}
}

package sink

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// deep is an account whose data is a chain of cells of a depth.
func deep(depth int) *record.Account {
	data := cell.BeginCell().MustStoreUInt(1, 8).EndCell()
	for range depth {
		data = cell.BeginCell().MustStoreRef(data).EndCell()
	}
	hash := func(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }
	return &record.Account{
		Account: append(make([]byte, 4), hash(byte(depth+1))...), McSeqno: 7, LastTransLt: 9, LastTransHash: hash(2), Now: 5, Hash: hash(3),
		State: &record.AccountState{Status: record.AccountStatus_ACCOUNT_ACTIVE, Balance: 11, CodeHash: hash(4), DataHash: data.Hash()},
		Data:  data.ToBOC(), DataDepth: uint32(depth),
	}
}

func TestDataDeeperThanConfiguredIsNotKept(t *testing.T) {
	for _, c := range []struct {
		limit      int
		kept, left []int // depths
	}{
		{DefaultConfiguration().MaxDataDepth, []int{0, 1, 12}, []int{13, 200}},
		{12, []int{0, 12}, []int{13}},
		{3, []int{3}, []int{4, 12}},
		{0, []int{0, 12, 13, 200}, nil},
		{-1, nil, []int{0, 12, 13, 200}},
	} {
		t.Run(fmt.Sprint(c.limit), func(t *testing.T) {
			configuration := DefaultConfiguration()
			configuration.MaxDataDepth = c.limit
			tables := newTables(t)
			batch := &record.AccountBatch{}
			want := map[string]*record.Account{}
			for _, depth := range append(c.kept, c.left...) {
				a := deep(depth)
				want[fmt.Sprintf("%X", a.Account[4:])] = a.CloneVT()
				batch.Accounts = append(batch.Accounts, a)
			}
			// What is told of once more keeps to the same rule.
			for _, depth := range c.left {
				batch.Late = append(batch.Late, deep(depth))
				want[fmt.Sprintf("%X", batch.Late[len(batch.Late)-1].Account[4:])].Data = nil
			}
			insertAccounts(t, tables, configuration, batch)
			for account, raw := range pairs(t, tables, "SELECT hex(account), record FROM accounts FINAL") {
				a := &record.Account{}
				if err := a.UnmarshalVT([]byte(raw)); err != nil {
					t.Fatal(err)
				}
				if !a.EqualVT(want[account]) {
					t.Errorf("data of depth %d: the row has\n%v\nwant\n%v", a.DataDepth, a, want[account])
				}
				delete(want, account)
			}
			if len(want) > 0 {
				t.Errorf("%d accounts have no row", len(want))
			}
		})
	}
}

func insertAccounts(t testing.TB, tables *clickhouse.Client, configuration Configuration, batch *record.AccountBatch) {
	t.Helper()
	f := newFeed(t, configuration, schema.Accounts)
	addAll(t, f, []*record.Record{{McSeqno: 7, Content: &record.Record_Accounts{Accounts: batch}}})
	insertFeed(t, tables, f, "1")
}

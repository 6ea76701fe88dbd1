package table_test

import (
	"bytes"
	"reflect"
	"testing"

	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// Actions of names call their NFT item an asset, which is the jetton of all others.
func TestTheItemOfANameStandsAmongItemsAndNotAmongJettons(t *testing.T) {
	id, none := bytes.Repeat([]byte{7}, 32), make([]byte, 32)
	for kind, want := range map[string][2][]byte{
		"renew_dns": {none, id}, "delete_dns": {none, id}, "change_dns": {none, id}, "jetton_burn": {id, none},
	} {
		row := &table.ActionRow{
			Action: &record.Action{Id: bytes.Repeat([]byte{1}, 32), Type: kind, Details: []*record.ActionDetail{
				{Name: "asset", Value: &record.ActionDetail_Bytes{Bytes: append(make([]byte, 4), id...)}},
			}},
			Step: &table.TraceStep{TraceStep: &record.TraceStep{Trace: &record.Trace{Id: make([]byte, 32)}}},
		}
		rows := table.NewRows(table.Actions)
		rows.Add(row)
		for _, v := range rows.Values() {
			if v.Column != "asset" {
				continue
			}
			if have := reflect.ValueOf(v.Slice).Index(0).Bytes(); !bytes.Equal(have, want[0]) {
				t.Errorf("%s: asset is %x, want %x", kind, have, want[0])
			}
		}
		// Where nft_item is read from, as schema/migrations declares it.
		if have := row.Stored()[92:124]; have != string(want[1]) {
			t.Errorf("%s: nft_item is %x, want %x", kind, have, want[1])
		}
	}
}

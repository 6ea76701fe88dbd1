package node

import (
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	tondns "tonscribe/ton/dns"
)

func TestARecordWithoutAnAccountIsUnknown(t *testing.T) {
	for _, kind := range []tondns.Kind{tondns.Address, tondns.NextResolver} {
		for name, address := range map[string]*cell.Builder{
			"addr_none":   cell.BeginCell().MustStoreUInt(0, 2),
			"addr_extern": cell.BeginCell().MustStoreUInt(1, 2).MustStoreUInt(8, 9).MustStoreUInt(5, 8),
		} {
			record := cell.BeginCell().MustStoreUInt(uint64(kind), 16).MustStoreBuilder(address).MustStoreUInt(0, 8).EndCell()
			if r := recordOf(record); r.Kind != 0 || r.Cell != record {
				t.Errorf("a record %x with %s is of kind %x, want an unknown one", kind, name, r.Kind)
			}
		}
	}
}

package node

import (
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/configtest"
	"tonscribe/ton/address"
	"tonscribe/ton/tvm"
)

// listing is a configuration whose parameter 44 names accounts.
func listing(t *testing.T, until uint32, accounts ...address.Address) *tvm.Config {
	t.Helper()
	list := cell.NewDict(288)
	for _, a := range accounts {
		if err := list.Set(cell.BeginCell().MustStoreSlice(a[:], 288).EndCell(), cell.BeginCell().EndCell()); err != nil {
			t.Fatal(err)
		}
	}
	return configtest.Of(t, nil, map[uint32]*cell.Cell{
		44: cell.BeginCell().MustStoreUInt(0, 8).MustStoreDict(list).MustStoreUInt(uint64(until), 32).EndCell(),
	})
}

func TestAccountsOfTheListAreSuspendedUntilItEnds(t *testing.T) {
	contract := contractWith(0x20, "30", cell.BeginCell().EndCell())
	active, absent, other := address.New(0, contract.ID[:]), address.New(0, make([]byte, 32)), address.New(-1, make([]byte, 32))
	n := newTown(t, 2, contract)
	for _, until := range []uint32{0, 1<<32 - 1} {
		for _, a := range []address.Address{active, absent, other} {
			s, err := n.Account(t.Context(), a, nil)
			if err != nil {
				t.Fatal(err)
			}
			n.keys.held.Set(s.Master.SeqNo, 1)
			n.configs.held.Set(1, listing(t, until, active, absent))
			want := until > 0 && a != other
			if got, err := n.Suspended(t.Context(), s); err != nil || got != want {
				t.Errorf("%s, %s, on a list until %d: suspended %t and %v, want %t", a, s.Status(), until, got, err, want)
			}
		}
	}
}

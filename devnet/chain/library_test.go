package chain

import (
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
)

// lending is an active account of the masterchain with a dictionary of libraries.
func lending(t *testing.T, libraries *cell.Cell) *tvm.PreparedAccount {
	t.Helper()
	silent := cell.BeginCell().EndCell()
	id := repeated(0x61)
	init := cell.BeginCell().MustStoreUInt(0, 2).MustStoreMaybeRef(silent).MustStoreMaybeRef(silent).MustStoreMaybeRef(libraries)
	state := cell.BeginCell().MustStoreBoolBit(true).MustStoreAddr(address.NewAddress(0, 0xff, id)).
		MustStoreUInt(0, 3+3).MustStoreUInt(0, 3).MustStoreUInt(uint64(genUtime), 32).MustStoreBoolBit(false). // StorageInfo: nothing used, nothing due
		MustStoreUInt(5, 64).MustStoreCoins(1e9).MustStoreBoolBit(false).MustStoreBoolBit(true).MustStoreBuilder(init)
	account, err := tvm.PrepareAccount(&tlb.ShardAccount{Account: state.EndCell(), LastTransHash: make([]byte, 32)}, address.NewAddress(0, 0xff, id))
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// library is SimpleLib (block.tlb).
func library(public bool, root *cell.Cell) *cell.Builder {
	return cell.BeginCell().MustStoreBoolBit(public).MustStoreRef(root)
}

func TestLibrariesAreReadWithinALimit(t *testing.T) {
	root := cell.BeginCell().MustStoreUInt(7, 8).EndCell()
	dictionary := func(n int) *cell.Cell {
		d := cell.NewDict(256)
		for i := range n {
			must(t, d.SetBuilder(cell.BeginCell().MustStoreUInt(uint64(i), 256).EndCell(), library(i%2 == 0, root)))
		}
		return d.AsCell()
	}
	// Both sides of each fork are the same cell: 2^40 libraries.
	shared := cell.BeginCell().MustStoreUInt(0b110, 3).MustStoreUInt(256-40, 8).MustStoreBuilder(library(true, root)).EndCell()
	for range 40 {
		shared = cell.BeginCell().MustStoreUInt(0, 2).MustStoreRef(shared).MustStoreRef(shared).EndCell()
	}
	for name, c := range map[string]struct {
		libraries *cell.Cell
		want      int
	}{
		"none":              {nil, 0},
		"two":               {dictionary(2), 1},
		"as many as may be": {dictionary(maxLibraries), maxLibraries / 2},
		"one more":          {dictionary(maxLibraries + 1), 0},
		"2^40":              {shared, 0},
		"no dictionary":     {cell.BeginCell().MustStoreUInt(0, 2).EndCell(), 0},
		"no libraries":      {cell.BeginCell().MustStoreUInt(0b110, 3).MustStoreUInt(256, 9).EndCell(), 0},
	} {
		account := lending(t, c.libraries)
		costtest.Within(t, time.Second, 1<<30, func() {
			if got := publicLibraries(account); len(got) != c.want {
				t.Errorf("%s: %d libraries, want %d", name, len(got), c.want)
			}
		})
	}
}

package node

import (
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Every kind of TransactionDescr (block.tlb) that has a storage phase has it elsewhere.
func TestTheStorageFeeIsThatOfTheStoragePhase(t *testing.T) {
	const split = 6 + 6 + 256 + 256
	for name, c := range map[string]struct {
		tag         uint64
		skip        uint // bits before the phase, or before what says that there is one
		maybe, none bool
	}{
		"ordinary":            {tag: 0b0000, skip: 1, maybe: true},
		"ordinary without":    {tag: 0b0000, skip: 1, maybe: true, none: true},
		"storage":             {tag: 0b0001},
		"tick":                {tag: 0b0010},
		"tock":                {tag: 0b0011},
		"prepared split":      {tag: 0b0100, skip: split, maybe: true},
		"installed split":     {tag: 0b0101, skip: split + 1, none: true},
		"prepared merge":      {tag: 0b0110, skip: split},
		"installed merge":     {tag: 0b0111, skip: split, maybe: true},
		"the same without it": {tag: 0b0111, skip: split, maybe: true, none: true},
	} {
		b := cell.BeginCell().MustStoreUInt(c.tag, 4).MustStoreSlice(make([]byte, 66), c.skip)
		if c.maybe {
			b.MustStoreBoolBit(!c.none)
		}
		want := "0"
		if !c.none {
			b.MustStoreCoins(7)
			want = "7"
		}
		description := b.MustStoreRef(cell.BeginCell().EndCell()).MustStoreUInt(0, 10).EndCell()
		if got, err := storageFee(description); err != nil || got.String() != want {
			t.Errorf("%s: %s and %v, want %s", name, got, err, want)
		}
	}
}

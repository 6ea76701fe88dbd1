package tvm_test

import (
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
	"tonscribe/ton/tvm"
)

func FuzzDecodeStack(f *testing.F) {
	held := cell.BeginCell().MustStoreUInt(7, 8).EndCell()
	list := any(nil)
	for range 100 {
		list = tvm.Tuple{big.NewInt(1), list}
	}
	for _, stack := range []tvm.Tuple{
		{}, {nil, big.NewInt(-5), tvm.NaN{}}, {held, held.MustBeginParse(), held.ToBuilder()}, {tvm.Tuple{tvm.Tuple{}, tvm.Tuple{held}, tvm.Tuple{nil, nil, nil}}}, {list},
		{new(big.Int).Lsh(big.NewInt(1), 200)},
	} {
		encoded, err := tvm.EncodeStack(stack)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded.ToBOC())
	}
	// A tuple of two references to the value below, again and again.
	value := cell.BeginCell().MustStoreUInt(0, 8).EndCell()
	for range 40 {
		value = cell.BeginCell().MustStoreUInt(0x070002, 24).MustStoreRef(value).MustStoreRef(value).EndCell()
	}
	f.Add(cell.BeginCell().MustStoreUInt(1, 24).MustStoreRef(cell.BeginCell().EndCell()).MustStoreBuilder(value.ToBuilder()).EndCell().ToBOC())
	f.Fuzz(func(t *testing.T, boc []byte) {
		root, err := cell.FromBOCWithOptions(boc, cell.BOCParseOptions{MaxCells: 1 << 14})
		if err != nil {
			return
		}
		var stack tvm.Tuple
		if costtest.Check(t, func() { stack, err = tvm.DecodeStack(root) }); err != nil {
			return
		}
		costtest.Check(t, func() {
			if again, err := tvm.EncodeStack(stack); err != nil || again == nil {
				t.Errorf("a stack that was read cannot be written: %v", err)
			}
		})
	})
}

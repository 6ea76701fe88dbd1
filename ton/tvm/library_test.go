package tvm_test

import (
	"encoding/binary"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/tvm"
)

// Code may refer to as many libraries as it likes that are not there, and to cells that
// are 2^60 as a tree.
func TestLibrariesOfCodeAreLookedForWithinBounds(t *testing.T) {
	code := cell.BeginCell().EndCell()
	for i := range 60 {
		hash := make([]byte, 32)
		binary.BigEndian.PutUint64(hash, uint64(i))
		library, err := cell.BeginCell().MustStoreUInt(2, 8).MustStoreSlice(hash, 256).EndCellSpecial(true)
		if err != nil {
			t.Fatal(err)
		}
		code = cell.BeginCell().MustStoreRef(library).MustStoreRef(code).MustStoreRef(code).EndCell()
	}
	message, err := tlb.ToCell(&tlb.ExternalMessage{DstAddr: somebody(1), StateInit: &tlb.StateInit{Code: code}, Body: cell.BeginCell().EndCell()})
	if err != nil {
		t.Fatal(err)
	}
	in, asked, questions := tvm.Delivery{Message: message}, map[[32]byte]int{}, 0
	err = in.FindLibraries(func(hashes [][32]byte) ([]*cell.Cell, error) {
		questions++
		for _, hash := range hashes {
			asked[hash]++
		}
		return make([]*cell.Cell, len(hashes)), nil
	})
	if err != nil || len(asked) != 8 || questions != 1 || in.Libraries != nil {
		t.Errorf("%v, %d libraries are asked for in %d questions and %d found, want 8 in one and none", err, len(asked), questions, len(in.Libraries))
	}
}

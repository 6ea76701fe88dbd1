package node

import (
	"errors"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
)

func TestNormalHashesAreEqualForVariantsOfAMessage(t *testing.T) {
	body := cell.BeginCell().MustStoreUInt(7, 32).EndCell()
	id := [32]byte{3}
	to := address.New(0, id[:])
	normal := externalHeader(to).MustStoreUInt(0b01, 2).MustStoreRef(body).EndCell()
	inline, err := tlb.ToCell(&tlb.ExternalMessage{DstAddr: ofTonutils(to), Body: body, ImportFee: tlb.MustFromTON("1")})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*cell.Cell{
		normal, inline, Body{To: to, Body: body}.Message(), Body{to, body, body, body}.Message(),
	} {
		got, receiver, err := normalized(m)
		if err != nil || got.HashKey() != normal.HashKey() || receiver != to {
			t.Errorf("%x: normal hash %x, want %x (%v)", m.Hash(), got.Hash(), normal.Hash(), err)
		}
	}
	if _, _, err := normalized(body); !errors.Is(err, ErrNotExternal) {
		t.Errorf("a cell that is no message: %v", err)
	}
}

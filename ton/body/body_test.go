package body_test

import (
	"bytes"
	"math/big"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
)

var (
	aliceID = bytes.Repeat([]byte{0xA1}, 32)
	alice   = tonutils.NewAddress(0, 0, aliceID)
)

func transferBody(payload func(*cell.Builder) *cell.Builder) *cell.Cell {
	b := cell.BeginCell().MustStoreUInt(7, 64).MustStoreBigCoins(big.NewInt(1000)).MustStoreAddr(alice).MustStoreAddr(nil).
		MustStoreBoolBit(false).MustStoreBigCoins(big.NewInt(3))
	return payload(b).EndCell()
}

func TestATransferHasItsFieldsHoweverItsPayloadLies(t *testing.T) {
	held := cell.BeginCell().MustStoreUInt(5, 8).EndCell()
	for what, c := range map[string]struct {
		payload func(*cell.Builder) *cell.Builder
		want    []byte // hash
		inline  bool
	}{
		"left out":             {func(b *cell.Builder) *cell.Builder { return b }, nil, false},
		"empty":                {func(b *cell.Builder) *cell.Builder { return b.MustStoreBoolBit(false) }, nil, false},
		"in the same cell":     {func(b *cell.Builder) *cell.Builder { return b.MustStoreBoolBit(false).MustStoreUInt(5, 8) }, held.Hash(), true},
		"in a cell of its own": {func(b *cell.Builder) *cell.Builder { return b.MustStoreBoolBit(true).MustStoreRef(held) }, held.Hash(), false},
	} {
		f, err := body.Of(body.JettonTransfer).Read(toncell.NewReader(transferBody(c.payload)))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if n, amount := f.Uint("query_id"), new(big.Int).SetBytes(f.Amount("amount")); n != 7 || amount.Int64() != 1000 {
			t.Errorf("%s: query_id %d, amount %s, want 7 and 1000", what, n, amount)
		}
		if to, back := f.Address("destination"), f.Address("response_destination"); !bytes.Equal(to, append(make([]byte, 4), aliceID...)) || back != nil {
			t.Errorf("%s: to %x, back to %x, want %x and nobody", what, to, back, aliceID)
		}
		p := f.Payload("forward_payload")
		var got []byte
		if p.Cell != nil {
			got = p.Cell.Hash()
		}
		if !bytes.Equal(got, c.want) || p.Inline != c.inline {
			t.Errorf("%s: payload %x, inline %t, want %x, %t", what, got, p.Inline, c.want, c.inline)
		}
	}
}

// Jetton wallets take such an address and leave out what they would send to it.
func TestAnAddressOutsideOfTheChainIsNobody(t *testing.T) {
	outside := cell.BeginCell().MustStoreUInt(1, 2).MustStoreUInt(12, 9).MustStoreUInt(5, 12)
	for opcode, before := range map[uint32]*cell.Builder{
		body.JettonTransfer: cell.BeginCell().MustStoreUInt(7, 64).MustStoreCoins(9).MustStoreAddr(alice),
		body.JettonBurn:     cell.BeginCell().MustStoreUInt(7, 64).MustStoreCoins(9),
	} {
		c := before.MustStoreBuilder(outside).MustStoreBoolBit(false).MustStoreCoins(3).MustStoreBoolBit(false).EndCell()
		f, err := body.Of(opcode).Read(toncell.NewReader(c))
		if err != nil || f.Uint("query_id") != 7 || f.Address("response_destination") != nil || f[len(f)-1].Name == "response_destination" {
			t.Errorf("%08x is read as %v, %v, want all fields and nobody at the response", opcode, f, err)
		}
	}
	short := cell.BeginCell().MustStoreUInt(7, 64).MustStoreCoins(9).MustStoreUInt(1, 2).MustStoreUInt(12, 9).MustStoreUInt(5, 11).EndCell()
	if f, err := body.Of(body.JettonBurn).Read(toncell.NewReader(short)); err == nil || len(f) != 2 {
		t.Errorf("an address that is cut off is read as %v, %v, want an error", f, err)
	}
}

func TestABodyThatEndsEarlyGivesTheFieldsBeforeTheOneThatIsMissing(t *testing.T) {
	c := cell.BeginCell().MustStoreUInt(7, 64).MustStoreBigCoins(big.NewInt(9)).EndCell()
	f, err := body.Of(body.JettonBurn).Read(toncell.NewReader(c))
	if err == nil || len(f) != 2 || f[1].Name != "amount" {
		t.Errorf("%v, %v, want query_id, amount and an error", f, err)
	}
	for what, c := range map[string]*cell.Cell{"no cell": nil, "a library": library(t)} {
		if f, err := body.Of(body.JettonBurn).Read(toncell.NewReader(c)); err == nil || len(f) != 0 {
			t.Errorf("%s: %v, %v, want an error", what, f, err)
		}
	}
}

func library(t *testing.T) *cell.Cell {
	t.Helper()
	c, err := cell.BeginCell().MustStoreUInt(uint64(cell.LibraryCellType), 8).MustStoreSlice(aliceID, 256).EndCellSpecial(true)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFieldsOfAReferenceStandAmongTheOthers(t *testing.T) {
	c := cell.BeginCell().MustStoreUInt(1, 64).MustStoreAddr(alice).MustStoreBigCoins(big.NewInt(2)).
		MustStoreRef(cell.BeginCell().MustStoreUInt(9, 32).MustStoreUInt(3, 64).MustStoreBigCoins(big.NewInt(4)).EndCell()).EndCell()
	f, err := body.Of(0x642b7d07).Read(toncell.NewReader(c))
	if err != nil || len(f) != 5 || f.Uint("master_msg_query_id") != 3 || !bytes.Equal(f.Amount("master_msg_jetton_amount"), []byte{4}) {
		t.Errorf("%v, %v, want five fields", f, err)
	}
}

func FuzzBodies(f *testing.F) {
	f.Add(uint32(0x0f8a7ea5), transferBody(func(b *cell.Builder) *cell.Builder { return b }).ToBOC())
	f.Add(uint32(0x75097f5d), transferBody(func(b *cell.Builder) *cell.Builder { return b.MustStoreRef(cell.BeginCell().EndCell()) }).ToBOC())
	f.Add(uint32(0xcb862902), cell.BeginCell().MustStoreUInt(1, 64).MustStoreSlice([]byte("https://a.site"), 112).EndCell().ToBOC())
	f.Fuzz(func(t *testing.T, opcode uint32, boc []byte) {
		root, err := cell.FromBOC(boc)
		if err != nil {
			return
		}
		costtest.Within(t, maxTime, costtest.MaxBytes, func() {
			if layout := body.Of(opcode); layout != nil {
				_, _ = layout.Read(toncell.NewReader(root))
			}
			_, _ = body.ReadMessage(root)
			_ = body.Text(toncell.NewReader(root))
		})
	})
}

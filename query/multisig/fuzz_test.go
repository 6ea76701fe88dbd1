package multisig

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/test/support/costtest"
)

// repeatedOrder has 256 actions that send the same body.
func repeatedOrder(t testing.TB, body *cell.Cell) []byte {
	t.Helper()
	d := cell.NewDict(8)
	action := cell.BeginCell().MustStoreRef(sendOf(body)).EndCell()
	for i := range 256 {
		if err := d.Set(cell.BeginCell().MustStoreUInt(uint64(i), 8).EndCell(), action); err != nil {
			t.Fatal(err)
		}
	}
	return d.AsCell().ToBOC()
}

func TestOrdersThatRepeatABodyEndAtTheLimit(t *testing.T) {
	boc := repeatedOrder(t, contracts.HugeContent(100_000))
	left := MaxAnswerBytes
	var got []byte
	costtest.Check(t, func() { left = MaxAnswerBytes; got = Actions(boc, &left, func([]byte) {}) })
	if len(got) > MaxAnswerBytes+1<<20 || !strings.Contains(string(got), errFull.Error()) || !json.Valid(got) {
		t.Errorf("%d bytes, full %t, want %d at most", len(got), strings.Contains(string(got), errFull.Error()), MaxAnswerBytes+1<<20)
	}
	if second := Actions(boc, &left, func([]byte) {}); len(second) > 1000 || !strings.Contains(string(second), errFull.Error()) {
		t.Errorf("the next order has %d bytes, want the error %q", len(second), errFull)
	}
	left = MaxAnswerBytes
	if got := Actions(make([]byte, maxOrderBytes+1), &left, nil); !strings.Contains(string(got), errTooLarge.Error()) {
		t.Errorf("a large order: %s", got)
	}
}

func FuzzActions(f *testing.F) {
	update := op(tagUpdate).MustStoreUInt(2, 8).MustStoreRef(cell.BeginCell().MustStoreUInt(0b1100, 4).MustStoreAddr(alice).EndCell()).MustStoreBoolBit(false).EndCell()
	f.Add(repeatedOrder(f, contracts.CommentBody("hello")))
	f.Add(repeatedOrder(f, contracts.HugeContent(20_000)))
	for _, code := range []uint64{0x0f8a7ea5, 0x595f07bc, 0x5fcc3d14, 0x15, 0x235caf52, 0x75097f5d, 0xcb862902} {
		d := cell.NewDict(8)
		for i, action := range []*cell.Cell{sendOf(query(code).MustStoreCoins(5).MustStoreAddr(alice).MustStoreAddr(bob).MustStoreBoolBit(false).MustStoreCoins(1).EndCell()), update} {
			if err := d.Set(cell.BeginCell().MustStoreUInt(uint64(i), 8).EndCell(), cell.BeginCell().MustStoreRef(action).EndCell()); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(d.AsCell().ToBOC())
	}
	f.Fuzz(func(t *testing.T, boc []byte) {
		costtest.Check(t, func() {
			left := MaxAnswerBytes
			if list := Actions(boc, &left, func([]byte) {}); !json.Valid(list) {
				t.Errorf("%s", list)
			}
		})
	})
}

package verify

import (
	"bytes"
	"testing"

	tvmcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/body"
)

func TestABodyOrdersWhenTheFieldsThatCountAreThere(t *testing.T) {
	begin := func(opcode uint32) *tvmcell.Builder {
		return tvmcell.BeginCell().MustStoreUInt(uint64(opcode), 32).MustStoreUInt(7, 64)
	}
	transfer := func() *tvmcell.Builder {
		return begin(body.JettonTransfer).MustStoreCoins(9).MustStoreAddr(nil).MustStoreAddr(nil).MustStoreBoolBit(false)
	}
	for name, c := range map[string]struct {
		opcode uint32
		body   *tvmcell.Builder
		is     bool
	}{
		"a transfer without a payload":               {body.JettonTransfer, transfer().MustStoreCoins(0), true},
		"a transfer whose payload has no cell":       {body.JettonTransfer, transfer().MustStoreCoins(0).MustStoreBoolBit(true), true},
		"a transfer that ends before its forwarding": {body.JettonTransfer, transfer(), false},
		"a burn without a payload":                   {body.JettonBurn, begin(body.JettonBurn).MustStoreCoins(9).MustStoreAddr(nil), true},
		"a burn that ends after its amount":          {body.JettonBurn, begin(body.JettonBurn).MustStoreCoins(9), false},
		"an item's transfer without a payload": {body.NFTTransfer,
			begin(body.NFTTransfer).MustStoreAddr(nil).MustStoreAddr(nil).MustStoreBoolBit(false).MustStoreCoins(1), true},
		"a body that nothing is ordered by": {body.JettonBurnNotification, begin(body.JettonBurnNotification).MustStoreCoins(9), false},
	} {
		o, _ := orderOf(&record.Transaction{Lt: 5, InMsg: &record.Message{Opcode: &c.opcode, Source: []byte{1}, Body: c.body.EndCell().ToBOC()}})
		if (o != nil) != c.is {
			t.Errorf("%s: %v, want an order: %t", name, o, c.is)
		}
		if o != nil && (o.QueryId != 7 || !bytes.Equal(o.Source, []byte{1}) || c.opcode != body.NFTTransfer && !bytes.Equal(o.Amount, []byte{9})) {
			t.Errorf("%s: %v", name, o)
		}
	}
}

package detect

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	devnet "tonscribe/devnet/contracts"
	"tonscribe/schema/record"
	"tonscribe/test/support/costtest"
	toncell "tonscribe/ton/cell"
)

func FuzzBodies(f *testing.F) {
	party := address.NewAddress(0, 0, bytes.Repeat([]byte{7}, 32))
	forward := devnet.CommentBody("thank you")
	start := func() *cell.Builder { return cell.BeginCell().MustStoreUInt(7, 64) }
	for _, b := range []*cell.Builder{
		start().MustStoreBigCoins(big.NewInt(5)).MustStoreAddr(party).MustStoreAddr(nil).MustStoreBoolBit(false).MustStoreCoins(1).MustStoreBoolBit(true).MustStoreRef(forward),
		start().MustStoreBigCoins(big.NewInt(5)).MustStoreAddr(party).MustStoreBoolBit(true).MustStoreRef(devnet.SharedContent(30)),
		start().MustStoreAddr(party).MustStoreAddr(party).MustStoreBoolBit(false).MustStoreCoins(0).MustStoreBoolBit(false).MustStoreUInt(1, 32),
		start(),
	} {
		f.Add(b.EndCell().ToBOC())
	}
	t := &record.Transaction{InMsg: &record.Message{}}
	f.Fuzz(func(tt *testing.T, boc []byte) {
		root, err := cell.FromBOCWithOptions(boc, cell.BOCParseOptions{MaxCells: 1 << 14})
		if err != nil {
			return
		}
		for _, read := range []func(*cell.Slice){
			func(s *cell.Slice) { readJettonTransfer(t, toncell.ReaderOf(s)) }, func(s *cell.Slice) { readJettonBurn(t, toncell.ReaderOf(s)) }, func(s *cell.Slice) { readNFTTransfer(t, toncell.ReaderOf(s)) },
		} {
			costtest.Check(tt, func() {
				if s, err := root.BeginParse(); err == nil {
					read(s)
				}
			})
		}
	})
}

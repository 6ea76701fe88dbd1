package node

import (
	"math/big"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/devnet/traffic"
	"tonscribe/test/support/costtest"
	tondns "tonscribe/ton/dns"
	"tonscribe/ton/tvm"
)

// readers read cells of strangers; what they find does not count, but what it costs.
var readers = map[string]func(c *cell.Cell){
	"content":     func(c *cell.Cell) { _, _ = contentOf(c) },
	"message":     func(c *cell.Cell) { _, _ = parseMessage(c) },
	"transaction": func(c *cell.Cell) { _, _ = ParseTransaction(0, c) },
	"names":       func(c *cell.Cell) { _, _ = entriesOf(c, "a") },
	"records": func(c *cell.Cell) {
		records, _ := tondns.Records(c)
		for _, e := range records {
			if e.Record != nil {
				recordOf(e.Record)
			}
		}
	},
	"domain":  func(c *cell.Cell) { domainText(c) },
	"address": func(c *cell.Cell) { (&values{stack: tvm.Tuple{c}}).party(0) },
	"states": func(c *cell.Cell) {
		for _, kind := range contractKinds {
			kind.read(parse(c))
		}
		readChannel(parse(c))
	},
	"currencies": func(c *cell.Cell) { readerOf(cell.BeginCell().ToSlice()).extra(c) },
	"external":   func(c *cell.Cell) { _, _, _ = normalized(c) },
}

func onchain(root *cell.Cell) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0, 8).MustStoreBoolBit(true).MustStoreRef(root).EndCell()
}

func FuzzCells(f *testing.F) {
	adnl := cell.BeginCell().MustStoreRef(cell.BeginCell().MustStoreUInt(uint64(tondns.ADNL), 16).MustStoreSlice(make([]byte, 33), 264).EndCell())
	chunk := cell.BeginCell().MustStoreRef(cell.BeginCell().MustStoreSlice([]byte("x"), 8).EndCell())
	for _, c := range []*cell.Cell{
		contracts.OnchainContent(map[string]string{"name": "Coin", "symbol": "C", "decimals": "9", "image_data": "\x00\x01"}),
		contracts.OffchainContent("https://example.org/" + strings.Repeat("x", 300)), contracts.HugeContent(20_000), contracts.DeepContent(300), contracts.SharedContent(30),
		contracts.CommentBody("hello"), onchain(costtest.SharedDictionary(256, 40, chunk)), costtest.SharedDictionary(256, 40, adnl), costtest.SharedDictionary(256, 5, adnl), costtest.SharedDictionary(15, 15, chunk),
		costtest.SharedDictionary(32, 32, cell.BeginCell().MustStoreVarUInt(5, 32)),
		cell.BeginCell().MustStoreUInt(0, 8).MustStoreBoolBit(true).MustStoreRef(costtest.SharedDictionary(256, 0, cell.BeginCell().
			MustStoreUInt(1, 8).MustStoreBoolBit(true).MustStoreRef(costtest.SharedDictionary(32, 32, chunk)))).EndCell(),
		cell.BeginCell().MustStoreUInt(uint64(tondns.Text), 16).MustStoreUInt(2, 8).MustStoreUInt(2, 8).MustStoreUInt(0x6161, 16).
			MustStoreRef(cell.BeginCell().MustStoreUInt(1, 8).MustStoreUInt(0x62, 8).EndCell()).EndCell(),
		cell.BeginCell().MustStoreUInt(7, 32).MustStoreUInt(698983191, 32).MustStoreSlice(make([]byte, 32), 256).MustStoreBoolBit(false).EndCell(),
		Body{Body: contracts.CommentBody("x"), Code: cell.BeginCell().EndCell()}.Message(),
	} {
		f.Add(c.ToBOC())
	}
	stack, err := tvm.EncodeStack(tvm.Tuple{big.NewInt(5), nil, tvm.Tuple{tvm.Tuple{}, cell.BeginCell().EndCell()}, tvm.NaN{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stack.ToBOC())
	for i, account := range traffic.New(7, traffic.Options{NetworkID: -239}).Accounts() {
		if i%5 == 0 && account.Data != nil {
			f.Add(account.Data.ToBOC())
		}
	}
	f.Fuzz(func(t *testing.T, boc []byte) {
		var root *cell.Cell
		costtest.Check(t, func() { root, _ = ParseBoC(boc, "body") })
		if root == nil {
			return
		}
		if costtest.Cheap(func() {
			for _, read := range readers {
				read(root)
			}
		}) {
			return
		}
		for name, read := range readers {
			if costtest.Check(t, func() { read(root) }); t.Failed() {
				t.Fatalf("reading %s", name)
			}
		}
	})
}

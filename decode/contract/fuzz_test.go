package contract_test

import (
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/devnet/contracts"
	"tonscribe/test/support/costtest"
)

func FuzzCode(f *testing.F) {
	for _, c := range []*cell.Cell{
		contracts.OnchainContent(map[string]string{"name": "Coin", "symbol": "C", "decimals": "9", "image_data": "\x00\x01", "other": "x"}),
		contracts.OffchainContent("https://example.org/" + strings.Repeat("x", 300)), contracts.HugeContent(20_000), contracts.DeepContent(300), contracts.SharedContent(30),
		contracts.OnchainContent(map[string]string{"description": strings.Repeat("y", 8192)}), contracts.Bomb{Content: contracts.DeepContent(5)}.StateInit().Code,
	} {
		f.Add(c.ToBOC())
	}
	f.Fuzz(func(t *testing.T, boc []byte) {
		root, err := cell.FromBOCWithOptions(boc, cell.BOCParseOptions{MaxCells: 1 << 14})
		if err != nil {
			return
		}
		costtest.Check(t, func() {
			if s, err := root.BeginParse(); err == nil {
				_, _ = contract.ReadAddress(s)
			}
		})
		costtest.Check(t, func() { _, _ = contract.NewCode(root, nil) })
	})
}

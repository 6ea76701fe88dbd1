package token

import (
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/test/support/costtest"
)

func FuzzContent(f *testing.F) {
	for _, c := range []*cell.Cell{
		contracts.OnchainContent(map[string]string{"name": "Coin", "symbol": "C", "decimals": "9", "image_data": "\x00\x01", "other": "x"}),
		contracts.OffchainContent("https://example.org/" + strings.Repeat("x", 300)), contracts.HugeContent(20_000), contracts.DeepContent(300), contracts.SharedContent(30),
		contracts.OnchainContent(map[string]string{"description": strings.Repeat("y", 8192)}), contracts.Bomb{Content: contracts.DeepContent(5)}.StateInit().Code,
		onChain(f, map[string]*cell.Cell{"name": chunks(f, map[uint32]string{0: "Go", 1: "ld"}), "symbol": chunks(f, map[uint32]string{1: "x"})}),
	} {
		f.Add(c.ToBOC())
	}
	f.Fuzz(func(t *testing.T, boc []byte) {
		root, err := cell.FromBOCWithOptions(boc, cell.BOCParseOptions{MaxCells: 1 << 14})
		if err != nil {
			return
		}
		costtest.Check(t, func() {
			if content, ok := Read(root); ok && sizeOf(content) > 256<<10 {
				t.Errorf("content of %d bytes", sizeOf(content))
			}
		})
	})
}

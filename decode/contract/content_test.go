package contract_test

import (
	"fmt"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/schema/record"
)

func TestContentIsAFactInEveryLayout(t *testing.T) {
	for name, c := range map[string]struct {
		content *cell.Cell
		layout  record.TokenContent_Layout
		want    string
	}{
		"off-chain":  {contracts.OffchainContent("https://example.org/j.json"), record.TokenContent_OFF_CHAIN, "map[uri:https://example.org/j.json]"},
		"on-chain":   {contracts.OnchainContent(map[string]string{"name": "Gold", "social": "x"}), record.TokenContent_ON_CHAIN, "map[name:Gold social:x]"},
		"semi-chain": {contracts.OnchainContent(map[string]string{"uri": "ipfs://x", "decimals": "6"}), record.TokenContent_SEMI_CHAIN, "map[decimals:6 uri:ipfs://x]"},
		"zero bytes": {contracts.OnchainContent(map[string]string{"name": "\x00G\x00old"}), record.TokenContent_ON_CHAIN, "map[name:Gold]"},
	} {
		bomb := contracts.Bomb{ID: 9, Content: c.content}
		got := detect(t, accountOf(bomb.Address(0), bomb.StateInit())).Facts.GetJettonMaster().GetContent()
		if got == nil || got.Layout != c.layout || fmt.Sprint(attributes(got)) != c.want {
			t.Errorf("%s: %v, want %s %s", name, got, c.layout, c.want)
		}
	}
}

package detect

import (
	"maps"
	"testing"

	"tonscribe/internal/network"
	"tonscribe/ton/address"
)

// What deployed a collection on one network deploys one at the same address on any other:
// whoever does so would give out names that others have.
func TestOnlyTheCollectionsOfTheNetworkGiveNames(t *testing.T) {
	account := func(text string) string {
		a := address.MustParse(text)
		return string(a[:])
	}
	main := account("EQC3dNlesgVD8YbAazcauIrXBPfiVhMMr5YYk2in0Mtsz0Bz")
	telegram := account("EQCA14o1-VWhS2efqoh_9M1b_A9DtKTuoqfmkn83AbJzwnPi")
	test := account("EQDjPtM6QusgMgWfl9kMcG-EALslbTITnKcH8VZK1pnH3UZA")
	own := account("0:1111111111111111111111111111111111111111111111111111111111111111")
	for name, want := range map[string]zones{
		network.Mainnet: {main: "ton", telegram: "", own: "own"},
		network.Testnet: {test: "ton", own: "own"},
		"devnet":        {own: "own"},
	} {
		c := DefaultConfiguration()
		c.Network, c.Zones = name, map[string]string{"0:1111111111111111111111111111111111111111111111111111111111111111": "own"}
		if got, err := c.zones(); err != nil || !maps.Equal(got, want) {
			t.Errorf("the zones of %s are %q (%v), want %q", name, got, err, want)
		}
	}
}

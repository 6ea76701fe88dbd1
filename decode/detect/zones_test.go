package detect

import (
	"bytes"
	"maps"
	"testing"

	tonaddress "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

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

// A collection that the root of the names named once gives names after it names another one,
// also to a process that began after that.
func TestAZoneIsKnownAfterARestartThoughTheRootNamesAnotherOne(t *testing.T) {
	root := tonaddress.NewAddress(0, 255, bytes.Repeat([]byte{7}, 32))
	first, second, at := person(11), person(12), person(13)
	ref := func(a *tonaddress.Address) *cell.Cell { return cell.BeginCell().MustStoreAddr(a).EndCell() }
	resolving := func(to *tonaddress.Address) state {
		return state{at: root, init: answering(map[string]*cell.Builder{ // 2DROP, 8 PUSHINT, PUSHREF
			"dnsresolve": cell.BeginCell().MustStoreUInt(0x5b7888, 24).MustStoreRef(cell.BeginCell().MustStoreUInt(0xba93, 16).MustStoreAddr(to).EndCell()),
		})}
	}
	collection := state{at: first, init: answering(map[string]*cell.Builder{
		"get_nft_address_by_index": cell.BeginCell().MustStoreUInt(0x3089, 16).MustStoreRef(ref(at)), // DROP, the item
	})}
	name := state{at: at, init: answering(map[string]*cell.Builder{
		// -1 PUSHINT, 1 PUSHINT, the collection, the owner, PUSHREF
		"get_nft_data": cell.BeginCell().MustStoreUInt(0x7f7189, 24).MustStoreRef(ref(first)).MustStoreUInt(0x89, 8).MustStoreRef(ref(person(2))).MustStoreUInt(0x88, 8).MustStoreRef(ref(at)),
		"get_domain":   cell.BeginCell().MustStoreUInt(0x89, 8).MustStoreRef(cell.BeginCell().MustStoreSlice([]byte("alice"), 40).EndCell()),
		"dnsresolve":   cell.BeginCell().MustStoreUInt(0x5b706d, 24), // 2DROP, 0 PUSHINT, PUSHNULL
	})}
	for life, restarts := range map[string]bool{"in one life": false, "with restarts": true} {
		s := newScript(t)
		params := s.config.Root().AsDict(32)
		value := cell.BeginCell().MustStoreRef(cell.BeginCell().MustStoreSlice(root.Data(), 256).EndCell()).EndCell()
		if err := params.Set(cell.BeginCell().MustStoreUInt(rootParam, 32).EndCell(), value); err != nil {
			t.Fatal(err)
		}
		s.nextWith(func(b *bundle) { b.config = params.AsCell().ToBOC() })
		for _, states := range [][]state{{resolving(first), collection, name}, {resolving(second)}, {name}} {
			if restarts {
				s.restart()
			}
			s.next(states)
		}
		if domain := s.of(at).GetNftItem().GetDns().GetDomain(); domain != "alice.ton" {
			t.Errorf("%s: the name is %q, want alice.ton: %v", life, domain, s.of(at))
		}
	}
}

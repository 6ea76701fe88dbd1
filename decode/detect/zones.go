package detect

import (
	"context"
	"fmt"

	"tonscribe/decode/contract"
	"tonscribe/internal/network"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// knownZones are the collections whose items are names (TEP-81) on public networks, by
// raw address. The value is the zone below which an item's label is; it is empty where
// the item knows its whole name.
var knownZones = map[string]map[string]string{
	network.Mainnet: {
		"0:b774d95eb20543f186c06b371ab88ad704f7e256130caf96189368a7d0cb6ccf": "ton",
		"0:80d78a35f955a14b679faa887ff4cd5bfc0f43b4a4eea2a7e6927f3701b273c2": "", // Telegram
	},
	network.Testnet: {"0:e33ed33a42eb2032059f97d90c706f8400bb256d32139ca707f1564ad699c7dd": "ton"},
}

// zones are collections of names: by account as in records.
type zones map[string]string

func (c Configuration) zones() (zones, error) {
	all := zones{}
	for _, names := range []map[string]string{knownZones[c.Network], c.Zones} {
		for raw, zone := range names {
			account, _, err := address.Parse(raw)
			if err != nil {
				return nil, fmt.Errorf("contracts: zone %q: %q: %w", zone, raw, err)
			}
			all[string(account[:])] = zone
		}
	}
	return all, nil
}

// named gives the item with its whole name, or without one when its collection
// gives none.
func (z zones) named(item *record.NFTItem) *record.NFTItem {
	if item.GetDns() == nil {
		return item
	}
	zone, known := z[string(item.Collection)]
	item = item.CloneVT()
	switch {
	case !known:
		item.Dns = nil
	case zone != "":
		item.Dns.Domain += "." + zone
	}
	return item
}

// rootParam is the config parameter that names the root of the names.
const rootParam = 4

// findZone asks the root of the names for the collection of the zone ton.
func (w *work) findZone(ctx context.Context) error {
	if w.root == nil {
		return nil
	}
	root, err := w.parent(w.root)
	if err != nil || root == nil || !root.Code.Has("dnsresolve") {
		return err
	}
	resolver, ok := w.detector.Zone(w.asked(ctx, root), "ton")
	if _, known := w.zones[string(resolver)]; !ok || resolver == nil || known {
		return nil
	}
	w.zones[string(resolver)] = "ton"
	return w.store.Set([]byte("ton"), keyZone, resolver)
}

// asked is a parent at the moment of the bundle.
func (w *work) asked(ctx context.Context, p *contract.Account) contract.Parent {
	moment := w.moment(0)
	return contract.Parent{Context: ctx, Account: *p, Moment: moment}
}

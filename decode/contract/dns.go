package contract

import (
	"math/big"
	"unicode/utf8"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/dns"
	"tonscribe/ton/token"
)

// name reads the records of a name (TEP-81). Whether its collection is one of
// those that give names is for the caller to know.
func (p *probe) name(item *record.NFTItem) {
	code := p.account.Code
	if !code.Has("dnsresolve") {
		return
	}
	var domain string
	switch {
	case code.Has("get_full_domain"): // a name as resolvers read it
		if raw, ok := p.domainText("get_full_domain"); ok {
			domain = dns.Decode(raw)
		}
	case code.Has("get_domain"): // a label, whose zone is for the caller to add
		if raw, ok := p.domainText("get_domain"); ok {
			domain = text(string(raw))
		}
	}
	if domain == "" {
		return
	}
	name := &record.DNSName{Domain: domain}
	p.records(name)
	item.Dns = name
}

func (p *probe) domainText(method string) ([]byte, bool) {
	r := p.run(method, 1)
	s := r.slice()
	if !r.ok {
		return nil, false
	}
	cells := dns.MaxEncoded
	raw, ok := token.Snake(s, dns.MaxEncoded, &cells)
	return raw, ok && len(raw) > 0 && len(raw) <= dns.MaxEncoded && utf8.Valid(raw)
}

// records asks for all categories at once. A name without records stays one.
func (p *probe) records(name *record.DNSName) {
	itself := cell.BeginCell().MustStoreUInt(0, 8).ToSlice()
	r := p.run("dnsresolve", 2, itself, 0)
	resolved := r.integer()
	root := r.optionalCell()
	if !r.ok || root == nil || resolved.Cmp(big.NewInt(8)) != 0 {
		return
	}
	// What is not of its kind stays empty.
	name.NextResolver, _ = ReadAddress(dns.Find(root, "dns_next_resolver", dns.NextResolver))
	name.Wallet, _ = ReadAddress(dns.Find(root, "wallet", dns.Address))
	name.SiteAdnl, _ = dns.Find(root, "site", dns.ADNL).LoadSlice(256)
	name.StorageBagId, _ = dns.Find(root, "storage", dns.Storage).LoadSlice(256)
}

// Zone asks the root of the names (config parameter 4) which contract resolves
// the names below a top label.
func (d *Detector) Zone(p Parent, label string) (resolver []byte, ok bool) {
	probe := d.newProbe(p.Context, p.Account, p.Moment)
	name, err := dns.Encode(label)
	if err != nil {
		return nil, false
	}
	query := cell.BeginCell().MustStoreUInt(0, 8).MustStoreSlice(name, uint(len(name))*8)
	category := dns.Category("dns_next_resolver")
	r := probe.run("dnsresolve", 2, query.ToSlice(), new(big.Int).SetBytes(category[:]))
	r.skip()
	found := r.optionalCell()
	if !r.ok || found == nil {
		return nil, false
	}
	kind, body := dns.Parse(found)
	if kind != dns.NextResolver {
		return nil, false
	}
	return ReadAddress(body)
}

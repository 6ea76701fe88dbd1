package contract

import (
	"crypto/sha256"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/tvm"
	"tonscribe/schema/record"
	toncell "tonscribe/ton/cell"
	"tonscribe/ton/token"
)

// maxDomain is the longest name (TEP-81).
const maxDomain = 127

// name reads the records of a name (TEP-81). Whether its collection is one of
// those that give names is for the caller to know.
func (p *probe) name(item *record.NFTItem) {
	code := p.account.Code
	if !code.Has("dnsresolve") {
		return
	}
	var domain string
	var ok bool
	switch {
	case code.Has("get_full_domain"):
		domain, ok = p.fullDomain()
	case code.Has("get_domain"):
		domain, ok = p.label()
	}
	if !ok || domain == "" {
		return
	}
	dns := &record.DNSName{Domain: domain}
	p.records(dns)
	item.Dns = dns
}

// label is the text of get_domain; its zone is for the caller to add.
func (p *probe) label() (string, bool) {
	raw, ok := p.domainText("get_domain")
	if !ok || !utf8.Valid(raw) {
		return "", false
	}
	return text(string(raw)), true
}

// fullDomain is the text of get_full_domain: labels from the last to the first,
// a zero byte after each.
func (p *probe) fullDomain() (string, bool) {
	raw, ok := p.domainText("get_full_domain")
	if !ok || !utf8.Valid(raw) {
		return "", false
	}
	labels := strings.Split(strings.Trim(string(raw), "\x00"), "\x00")
	slices.Reverse(labels)
	return strings.Join(labels, "."), true
}

func (p *probe) domainText(method string) ([]byte, bool) {
	values, ok := p.call(method)
	if !ok {
		return nil, false
	}
	r := read(values, 1)
	s := r.slice()
	if !r.ok {
		return nil, false
	}
	cells := maxDomain
	raw, ok := token.Snake(s, maxDomain, &cells)
	return raw, ok && len(raw) > 0 && len(raw) <= maxDomain
}

// records asks for all categories at once. A name without records stays one.
func (p *probe) records(dns *record.DNSName) {
	itself := cell.BeginCell().MustStoreUInt(0, 8).ToSlice()
	values, ok := p.call("dnsresolve", itself, 0)
	if !ok {
		return
	}
	r := read(values, 2)
	resolved := r.integer()
	root := r.optionalCell()
	if !r.ok || root == nil || resolved.Cmp(big.NewInt(8)) != 0 {
		return
	}
	dns.NextResolver = addressRecord(root, "dns_next_resolver", 0xba93)
	dns.Wallet = addressRecord(root, "wallet", 0x9fd3)
	dns.SiteAdnl = hashRecord(root, "site", 0xad01)
	dns.StorageBagId = hashRecord(root, "storage", 0x7473)
}

// recordOf finds a category's record and reads its tag.
func recordOf(root *cell.Cell, category string, tag uint64) *cell.Slice {
	key := sha256.Sum256([]byte(category))
	value, err := toncell.Dictionary{Root: root, Bits: 256}.Find(key[:])
	if err != nil || value == nil || value.RefsNum() == 0 {
		return nil
	}
	s, err := value.LoadRef()
	if err != nil || s.IsSpecial() {
		return nil
	}
	if found, err := s.LoadUInt(16); err != nil || found != tag {
		return nil
	}
	return s
}

func addressRecord(root *cell.Cell, category string, tag uint64) []byte {
	s := recordOf(root, category, tag)
	if s == nil {
		return nil
	}
	account, _ := ReadAddress(s)
	return account
}

func hashRecord(root *cell.Cell, category string, tag uint64) []byte {
	s := recordOf(root, category, tag)
	if s == nil {
		return nil
	}
	hash, err := s.LoadSlice(256)
	if err != nil {
		return nil
	}
	return hash
}

// Zone asks the root of the names (config parameter 4) which contract resolves
// the names below a top label.
func (d *Detector) Zone(p Parent, label string) (resolver []byte, ok bool) {
	probe := d.look(p.Context, p.Account, p.Moment)
	query := cell.BeginCell().MustStoreUInt(0, 8).MustStoreSlice([]byte(label), uint(len(label))*8).MustStoreUInt(0, 8)
	category := sha256.Sum256([]byte("dns_next_resolver"))
	var values tvm.Tuple
	if values, ok = probe.call("dnsresolve", query.ToSlice(), new(big.Int).SetBytes(category[:])); !ok {
		return nil, false
	}
	r := read(values, 2)
	r.skip()
	found := r.optionalCell()
	if !r.ok || found == nil || found.IsSpecial() {
		return nil, false
	}
	s, err := found.BeginParse()
	if err != nil {
		return nil, false
	}
	if tag, err := s.LoadUInt(16); err != nil || tag != 0xba93 {
		return nil, false
	}
	return ReadAddress(s)
}

package traffic

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
)

// zone is the top label of all names here.
const zone = "ton"

// dnsParam is the config parameter that names the root.
const dnsParam = 4

// rootID is the root's account of the masterchain.
var rootID = [32]byte(bytes.Repeat([]byte{0x44}, 32))

var words = []string{
	"amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "iris", "jade", "koala", "lotus", "maple", "north",
	"ocean", "piano", "quartz", "river", "stone", "tulip", "umbra", "violet", "willow", "xenon", "yarrow", "zephyr",
}

// label is the name with a number.
func label(number uint32) string {
	word := words[number%uint32(len(words))]
	if round := number / uint32(len(words)); round > 0 {
		return fmt.Sprintf("%s-%d", word, round)
	}
	return word
}

// foundDomains makes the zone. Its root is in the zerostate, since a config
// parameter names it.
func (t *Traffic) foundDomains() {
	t.names = contracts.DNSCollection{
		Content: contracts.OffchainContent("https://example.com/nfts/names.json"), MinPrice: ton(1), AuctionTime: 90,
	}
	t.zone = t.names.Address(0)
}

func (t *Traffic) dnsRoot() chain.Account {
	state := contracts.DNSRoot{Owner: t.founder.address, Zones: map[string]*address.Address{zone: t.zone}}.StateInit()
	return chain.Account{Workchain: -1, ID: rootID, Code: state.Code, Data: state.Data, Balance: ton(1000)}
}

// domain is what an item's data tells.
type domain struct {
	label   string
	at      *address.Address
	taken   bool
	owner   *person // of the last auction's winner too, when he is known
	bid     *big.Int
	end     uint32 // of an auction
	auction bool   // runs
	settled bool
}

// domain looks up any name: few in the beginning, more with time.
func (s *step) domain() domain {
	number := s.chance.Uint32N(uint32(len(words)) + s.seqno/8)
	d := domain{label: label(number)}
	d.at = contracts.DNSItem{Collection: s.zone, Label: d.label}.Address(0)
	data := s.data(d.at)
	if data == nil {
		return d
	}
	r := &reader{Slice: data}
	if err := r.SkipBits(256); err != nil {
		r.keep(err)
	}
	r.address()
	if r.BitsLeft() == 0 {
		return d
	}
	d.taken, d.settled = true, true
	owner := r.address()
	r.ref() // records
	r.ref() // label
	if r.uint(1) == 1 {
		auction := r.ref()
		owner, d.bid, d.end = auction.address(), auction.coins(), uint32(auction.uint(64))
		d.auction, d.settled = s.now < d.end, false
		r.keep(auction.err)
	}
	d.owner = s.byID[placeOrNone(owner)]
	s.fail(r.err)
	return d
}

// ownDomain is a name whose owner can send, nil when none is found.
func (s *step) ownDomain() *domain {
	for range 12 {
		if d := s.domain(); d.taken && !d.auction && d.owner != nil && s.free(d.owner, 2) {
			return &d
		}
	}
	return nil
}

func (s *step) domainAsked() int {
	p := s.anyone(20)
	if p == nil || !s.ready {
		return 0
	}
	for range 8 {
		d := s.domain()
		if d.taken {
			continue
		}
		if !s.send(p, pay(s.zone, coins(s.chance, 1.2, 5), contracts.CommentBody(d.label))) {
			return 0
		}
		return 3
	}
	return 0
}

func (s *step) domainBid() int {
	p := s.anyone(80)
	if p == nil {
		return 0
	}
	for range 12 {
		d := s.domain()
		if !d.taken || !d.auction || s.now+5 > d.end || d.bid.Cmp(ton(50)) > 0 {
			continue
		}
		value := percent(d.bid, 110+s.chance.Int64N(20))
		if !s.send(p, pay(d.at, value, nil)) {
			return 0
		}
		return 3
	}
	return 0
}

func (s *step) domainRecord() int {
	d := s.ownDomain()
	if d == nil {
		return 0
	}
	category, record := s.record(d.owner)
	return s.tellDomain(d, contracts.DNSChangeRecordBody(s.query(), category, record))
}

func (s *step) domainRenewal() int {
	d := s.ownDomain()
	if d == nil {
		return 0
	}
	return s.tellDomain(d, contracts.DNSRenewBody(s.query()))
}

func (s *step) tellDomain(d *domain, body *cell.Cell) int {
	if !s.send(d.owner, pay(d.at, ton(0.05), body)) {
		return 0
	}
	if !d.settled {
		return 4
	}
	return 3
}

// record is any record, or none.
func (s *step) record(p *person) (category string, record *cell.Cell) {
	id := digest(s.seed, "record", s.chance.Uint64())
	switch s.chance.IntN(7) {
	case 0:
		return contracts.DNSCategorySite, contracts.DNSSiteRecord(id)
	case 1:
		return contracts.DNSCategoryStorage, contracts.DNSStorageRecord(id)
	case 2:
		return contracts.DNSCategoryNextResolver, contracts.DNSNextResolverRecord(s.other(p).address)
	case 3:
		return "text", contracts.DNSTextRecord(oneOf(s.chance, words))
	case 4:
		return contracts.DNSCategoryWallet, nil
	}
	return contracts.DNSCategoryWallet, contracts.DNSWalletRecord(p.address)
}

func (s *step) domainTransfer() int {
	d := s.ownDomain()
	if d == nil {
		return 0
	}
	transfer := contracts.NFTTransfer{QueryID: s.query(), NewOwner: s.other(d.owner).address, Response: d.owner.address, ForwardValue: ton(0.01)}
	if !s.send(d.owner, pay(d.at, ton(0.1), contracts.NFTTransferBody(transfer))) {
		return 0
	}
	if !d.settled {
		return 5
	}
	return 4
}

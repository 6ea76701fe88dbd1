package traffic

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	tvm "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
	"tonscribe/ton/cell"
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
	data.Skip(256)
	data.Account() // the collection
	if data.BitsLeft() == 0 {
		return d
	}
	d.taken, d.settled = true, true
	owner := accountOf(data)
	data.Ref() // records
	data.Ref() // label
	if data.Bit() {
		auction := cell.NewReader(data.Ref())
		owner, d.bid, d.end = accountOf(auction), auction.Coins(), uint32(auction.Uint(64))
		d.auction, d.settled = s.now < d.end, false
		s.fail(auction.Err())
	}
	d.owner = s.byAccount[owner]
	s.fail(data.Err())
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

func (s *step) domainAsked(p *person) int {
	if !s.ready {
		return 0
	}
	for range 8 {
		d := s.domain()
		if d.taken {
			continue
		}
		return s.send(3, p, pay(s.zone, coins(s.chance, 1.2, 5), contracts.CommentBody(d.label)))
	}
	return 0
}

func (s *step) domainBid(p *person) int {
	for range 12 {
		d := s.domain()
		if !d.taken || !d.auction || s.now+5 > d.end || d.bid.Cmp(ton(50)) > 0 {
			continue
		}
		return s.send(3, p, pay(d.at, percent(d.bid, 110+s.chance.Int64N(20)), nil))
	}
	return 0
}

func (s *step) domainRecord(d *domain) int {
	category, record := s.record(d.owner)
	return s.send(3+d.settling(), d.owner, pay(d.at, ton(0.05), contracts.DNSChangeRecordBody(s.query(), category, record)))
}

func (s *step) domainRenewal(d *domain) int {
	return s.send(3+d.settling(), d.owner, pay(d.at, ton(0.05), contracts.DNSRenewBody(s.query())))
}

// record is any record, or none.
func (s *step) record(p *person) (category string, record *tvm.Cell) {
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

func (s *step) domainTransfer(d *domain) int {
	transfer := contracts.NFTTransfer{QueryID: s.query(), NewOwner: s.other(d.owner).address, Response: d.owner.address, ForwardValue: ton(0.01)}
	return s.send(4+d.settling(), d.owner, pay(d.at, ton(0.1), contracts.NFTTransferBody(transfer)))
}

// settling is how many transactions the end of the last auction causes, which
// comes with the first message of its winner.
func (d *domain) settling() int {
	if d.settled {
		return 0
	}
	return 1
}

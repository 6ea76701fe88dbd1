package detect

import (
	"fmt"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rs/zerolog"

	"tonscribe/internal/kafka"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/internal/stage"
	"tonscribe/schema/record"
)

// desk is work without a log.
type desk struct {
	testing.TB
	*work
	contracts map[string]*record.Contract
	jettons   map[string]*record.JettonTransfer
	burns     map[string]*record.JettonBurn
	nfts      map[string]*record.NFTTransfer
	past      []*record.Contract
	left      sync.Once
}

func newDesk(t testing.TB, dir string, change ...func(*Configuration)) *desk {
	t.Helper()
	return newDeskOn(t, dir, nil, change...)
}

// newDeskOn makes one that may ask lite servers.
func newDeskOn(t testing.TB, dir string, pool *lite.Pool, change ...func(*Configuration)) *desk {
	t.Helper()
	configuration := DefaultConfiguration()
	configuration.Dir = dir
	for _, apply := range change {
		apply(&configuration)
	}
	log := kafka.DefaultConfiguration()
	log.Brokers, log.Partitions = []string{"127.0.0.1:1"}, 2
	reporter := report.Reporter{Metrics: prometheus.NewRegistry()}
	client, err := kafka.New(log, kafka.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(configuration, Dependencies{Report: reporter, Kafka: client, Lite: pool})
	if err != nil {
		t.Fatal(err)
	}
	s, err := stage.OpenStore(configuration.store(zerolog.Nop()))
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.begin(&stage.Session{Store: s, Partitions: 2, Published: s.Marker()})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{TB: t, work: w, contracts: map[string]*record.Contract{}, jettons: map[string]*record.JettonTransfer{},
		burns: map[string]*record.JettonBurn{}, nfts: map[string]*record.NFTTransfer{}}
	t.Cleanup(d.leave)
	return d
}

// leave closes the store, which another desk may then use.
func (d *desk) leave() {
	d.left.Do(func() {
		if err := d.store.Close(); err != nil {
			d.Error(err)
		}
	})
}

// run works a bundle out, as the frame lets it.
func (d *desk) run(b *bundle) stage.Output {
	d.Helper()
	out, err := d.bundle(d.Context(), b)
	if err != nil {
		d.Fatal(err)
	}
	if err := d.store.Mark(b.mcSeqno); err != nil {
		d.Fatal(err)
	}
	return out
}

func (d *desk) commit() {
	d.Helper()
	if err := d.store.Commit(); err != nil {
		d.Fatal(err)
	}
}

// do works a bundle out and takes its rows, as tables do.
func (d *desk) do(b *bundle) []*record.Record {
	d.Helper()
	var all []*record.Record
	for _, records := range d.run(b).Records {
		for _, r := range records {
			all = append(all, r)
			d.take(r.GetContracts())
		}
	}
	d.commit()
	return all
}

func (d *desk) take(b *record.ContractBatch) {
	for _, c := range b.GetContracts() {
		d.contracts[string(c.Account)] = c
	}
	d.past = append(d.past, b.GetPast()...)
	for _, o := range b.GetJettonTransfers() {
		d.jettons[fmt.Sprintf("%x %d", o.SourceWallet, o.Lt)] = o
	}
	for _, o := range b.GetJettonBurns() {
		d.burns[fmt.Sprintf("%x %d", o.Wallet, o.Lt)] = o
	}
	for _, o := range b.GetNftTransfers() {
		d.nfts[fmt.Sprintf("%x %d", o.Item, o.Lt)] = o
	}
}

func TestEveryInterfaceOfTheDevnetIsFound(t *testing.T) {
	w := newTown(t, 60, 120)
	d := newDesk(t, t.TempDir())
	for _, s := range w.steps {
		d.do(s.bundle())
	}
	count := map[string]int{}
	for _, c := range d.contracts {
		for name, has := range map[string]bool{
			"jetton master": c.JettonMaster != nil, "jetton wallet": c.JettonWallet != nil, "NFT collection": c.NftCollection != nil,
			"NFT item": c.NftItem != nil, "SBT": c.NftItem.GetAuthority() != nil, "name": c.NftItem.GetDns() != nil,
			"sale": c.Sale != nil, "auction": c.Auction != nil, "item on sale": c.NftItem.GetSale() != nil,
			"item at an auction": c.NftItem.GetAuction() != nil, "multisig": c.Multisig != nil, "multisig order": c.MultisigOrder != nil,
			"vesting": c.Vesting != nil, "nominator pool": c.NominatorPool != nil,
		} {
			if has {
				count[name]++
			} else {
				count[name] += 0
			}
		}
	}
	for name, n := range count {
		if n == 0 {
			t.Errorf("no %s was found", name)
		}
	}
	deliveries := map[string]int{}
	for _, o := range d.jettons {
		deliveries["transfer "+o.Delivery.String()]++
	}
	for _, o := range d.burns {
		deliveries["burn "+o.Delivery.String()]++
	}
	for _, o := range d.nfts {
		deliveries["NFT "+o.Delivery.String()]++
	}
	t.Log(count, deliveries)
}

package query

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
	"tonscribe/query/list"
	"tonscribe/query/sql"
	"tonscribe/query/store"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// change is what a bundle makes of an account: its state, its code and the DNS item
// that names it have the number of the bundle, or the item is somebody else's.
type change struct {
	seqno uint32
	sold  bool
}

// changes are those of each account. A change is told here before it is in any table.
type changes struct {
	sync.RWMutex
	of map[list.Address][]change
}

// since returns those that may be shown at a watermark: the newest up to there, and what
// came after it.
func (c *changes) since(a list.Address, watermark uint32) []change {
	c.RLock()
	defer c.RUnlock()
	all := c.of[a]
	n := len(all) - 1
	for n > 0 && all[n].seqno > watermark {
		n--
	}
	return slices.Clone(all[n:])
}

// numbered is a hash that has a number.
func numbered(seqno uint32) []byte { return binary.BigEndian.AppendUint32(make([]byte, 28), seqno) }

// tell writes what a bundle changes.
func (c *changes) tell(t *testing.T, w *world, b *synthetic.Bundle, random *rand.Rand, accounts []list.Address) {
	t.Helper()
	c.Lock()
	for _, a := range accounts {
		c.of[a] = append(c.of[a], change{b.Seqno, random.IntN(3) == 0})
	}
	c.Unlock()
	var states, contracts, links []string
	for _, a := range accounts {
		place := func(a list.Address) string {
			return fmt.Sprintf("%d, %d, unhex('%x')", schema.Workchain(a[:]), schema.Prefix(a[4:]), a[4:])
		}
		item := a
		item[35] ^= 1
		item[4] ^= 0x80
		history := c.of[a]
		owner := a
		if history[len(history)-1].sold {
			owner = item
		}
		state := &record.Account{Account: a[:], McSeqno: b.Seqno, LastTransLt: uint64(b.Seqno), State: &record.AccountState{Status: record.AccountStatus_ACCOUNT_ACTIVE}}
		states = append(states, fmt.Sprintf("(%s, %d, %d, 'active', unhex('%x'), unhex('%x'))", place(a), 2*b.Seqno, b.Seqno, numbered(b.Seqno), packed(t, state)))
		facts := &record.Contract{Account: item[:], McSeqno: b.Seqno, NftItem: &record.NFTItem{
			Owner: owner[:], Dns: &record.DNSName{Domain: fmt.Sprintf("%d.ton", b.Seqno), Wallet: a[:]},
		}}
		contracts = append(contracts, fmt.Sprintf("(%s, %d, unhex('%x'))", place(item), b.Seqno, packed(t, facts)))
		links = append(links, fmt.Sprintf("('%s', %d, %d, %s, %d)", schema.LinkWallet, schema.Workchain(a[:]), schema.Prefix(a[4:]), place(item), b.Seqno))
	}
	w.exec(t, "INSERT INTO contracts (workchain, account_prefix, account, mc_seqno, record) VALUES "+strings.Join(contracts, ","))
	w.exec(t, "INSERT INTO contract_links (role, key_workchain, key_prefix, workchain, account_prefix, account, mc_seqno) VALUES "+strings.Join(links, ","))
	w.exec(t, "INSERT INTO accounts (workchain, account_prefix, account, version, mc_seqno, status, code_hash, record) VALUES "+strings.Join(states, ","))
}

// older looks some accounts up as a request does, and returns an error with both values
// when a row is older than the view.
func (c *changes) older(ctx context.Context, s *store.Store, accounts []list.Address) error {
	v, err := s.View()
	if err != nil {
		return err
	}
	states, err := s.States(ctx, sql.KeysOf(accounts))
	if err != nil {
		return err
	}
	codes, err := s.Directory(ctx, accounts)
	if err != nil {
		return err
	}
	domains, err := s.Domains(ctx, accounts)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		possible := c.since(a, v.Watermark)
		least := possible[0].seqno
		if got := states[a].GetMcSeqno(); got < least {
			return fmt.Errorf("at bundle %d the state of %s is that of bundle %d, it has one of bundle %d", v.Watermark, a, got, least)
		}
		if codes[a].Code == nil {
			return fmt.Errorf("at bundle %d %s has no code, it has that of bundle %d", v.Watermark, a, least)
		}
		if got := binary.BigEndian.Uint32(codes[a].Code.Hash[28:]); got < least {
			return fmt.Errorf("at bundle %d the code of %s is that of bundle %d, it has one of bundle %d", v.Watermark, a, got, least)
		}
		if !slices.ContainsFunc(possible, func(p change) bool {
			return p.sold && domains[a] == "" || !p.sold && domains[a] == fmt.Sprintf("%d.ton", p.seqno)
		}) {
			return fmt.Errorf("at bundle %d the name of %s is %q, want that of one of %v", v.Watermark, a, domains[a], possible)
		}
	}
	return nil
}

// Whoever asks while bundles arrive is never shown a row that is older than the bundle
// that he sees, whether it is held, read meanwhile, or was just taken away.
func TestNoRowIsOlderThanTheBundleThatIsSeen(t *testing.T) {
	t.Parallel()
	bundles := syntheticBundles(3000, 9)
	w := newWorld(t, bundles)
	for _, table := range []string{"accounts", "contracts", "contract_links"} {
		w.exec(t, "TRUNCATE TABLE "+table)
	}
	random := rand.New(rand.NewPCG(3, 4))
	var accounts []list.Address
	for i := range 60 {
		accounts = append(accounts, list.Address(addressOf(byte(100+i))))
	}
	told := &changes{of: map[list.Address][]change{}}
	told.tell(t, w, bundles[0], random, accounts)
	w.setWatermark(t, bundles[0])
	var readers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer readers.Wait()
	defer stop()
	asked := make(chan int, 8)
	last := w.serve(t, nil)
	for n, s := range []*server{last, w.serve(t, func(c *Configuration) { c.Store.CacheBytes = 20_000 })} {
		for i := range cap(asked) / 2 {
			readers.Go(func() {
				count, random := 0, rand.New(rand.NewPCG(uint64(n), uint64(i)))
				for ; ctx.Err() == nil; count++ {
					some := make([]list.Address, 1+random.IntN(20))
					for i := range some {
						some[i] = accounts[random.IntN(len(accounts))]
					}
					if err := told.older(ctx, s.component.store, some); err != nil && ctx.Err() == nil {
						t.Error(err)
						break
					}
					time.Sleep(time.Duration(n*cap(asked)/2+i) * 2 * time.Millisecond) // one of them never rests
				}
				asked <- count
			})
		}
	}
	for _, b := range bundles[1:30] {
		some := slices.Clone(accounts)
		random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		told.tell(t, w, b, random, some[:1+random.IntN(12)])
		w.setWatermark(t, b)
		if last.await(b.Seqno); t.Failed() {
			break
		}
	}
	stop()
	for range cap(asked) {
		if n := <-asked; n < 20 && !t.Failed() {
			t.Errorf("a reader asked %d times, 20 are the least that proves anything", n)
		}
	}
}

package detect

import (
	"bytes"
	"context"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
	"tonscribe/devnet/liteserver"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/test/support/litetest"
)

// village is a devnet with a lite server that can be made to misbehave.
type village struct {
	testing.TB
	*litetest.Devnet
	faults *litetest.Faulty
	steps  []*step // from block 1 on, without the zerostate
}

func newVillage(t testing.TB, bundles, transactions int) *village {
	t.Helper()
	v := &village{TB: t, Devnet: litetest.NewDevnet(t, 3, 1)}
	v.Grow(t, bundles-1, transactions)
	v.faults = litetest.NewFaulty(v.Handle)
	w := &town{TB: t, codes: map[string]bool{}}
	for _, b := range v.Bundles {
		w.take(b)
	}
	v.steps = w.steps
	return v
}

func (v *village) pool() *lite.Pool {
	v.Helper()
	c := lite.DefaultConfiguration()
	c.Config = litetest.GlobalConfig(v, v.Zero(), v.Init(), litetest.Listen(v, v.faults.Handle))
	c.CoolOff, c.CoolOffMax, c.ReconnectMin = time.Millisecond, time.Millisecond, time.Millisecond
	return started(v, c)
}

func started(t testing.TB, c lite.Configuration) *lite.Pool {
	t.Helper()
	pool, err := lite.New(c, lite.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, pool)
	return pool
}

// fetching lets the desk's fetcher ask, and gives its end.
func (d *desk) fetching() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.fetcher.queue.Run(ctx)
	}()
	return func() { cancel(); <-done }
}

// idle waits until nothing is to be asked for.
func (d *desk) idle() {
	d.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		left := d.fetcher.queue.Len()
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			d.Fatalf("%d requests to lite servers are still open", left)
		}
	}
}

// from feeds the village's bundles from a seqno on, as a log that begins there,
// and then empty ones until nothing more is to be fetched.
func (d *desk) from(v *village, first uint32) {
	d.Helper()
	var last *bundle
	for _, s := range v.steps[first-1:] {
		last = s.bundle()
		if last.mcSeqno == first {
			last.prev = 0
		}
		d.do(last)
	}
	for range 5 {
		d.idle()
		last = &bundle{mcSeqno: last.mcSeqno + 1, prev: last.mcSeqno, seal: last.seal}
		d.do(last)
	}
}

// walletsOf are the jetton wallets and items that a desk knows, of those of a list.
func (d *desk) claimed() map[string]bool {
	found := map[string]bool{}
	for account, c := range d.contracts {
		if c.JettonWallet != nil || c.NftItem.GetCollection() != nil || c.MultisigOrder != nil {
			found[account] = true
		}
	}
	return found
}

func outcome(d *desk, what, outcome string) float64 {
	return testutil.ToFloat64(d.metrics.fetches.WithLabelValues(what, outcome))
}

func TestClaimsOfWhichNobodySawTheParentAreConfirmedByLiteServers(t *testing.T) {
	v := newVillage(t, 24, 40)
	const first = 15
	whole := newDesk(t, t.TempDir())
	for _, s := range v.steps {
		whole.do(s.bundle())
	}
	alone := newDesk(t, t.TempDir())
	alone.fromAlone(v, first)
	d := newDeskOn(t, t.TempDir(), v.pool())
	defer d.fetching()()
	d.from(v, first)

	all, without, with := whole.claimed(), alone.claimed(), d.claimed()
	changed := map[string]bool{}
	for _, s := range v.steps[first-1:] {
		for _, a := range s.accounts {
			changed[string(a.Account)] = true
		}
	}
	wanted, gained := 0, 0
	for account := range all {
		if !changed[account] {
			continue
		}
		wanted++
		if !with[account] {
			t.Errorf("%x is not confirmed: %v", account, whole.contracts[account])
		}
		if !without[account] {
			gained++
		}
	}
	for account := range with {
		if !all[account] {
			t.Errorf("%x is confirmed, which the whole chain does not know: %v", account, d.contracts[account])
		}
	}
	t.Logf("%d wallets, items and orders changed, %d of them confirmed by lite servers alone; %v parents fetched", wanted, gained, outcome(d, "parent", "taken"))
	if wanted == 0 || gained == 0 || outcome(d, "parent", "taken") == 0 {
		t.Errorf("%d wallets, items and orders changed, %d needed lite servers, %v parents were fetched; want some of each", wanted, gained, outcome(d, "parent", "taken"))
	}
	if got, want := d.configHash(), hashOf(t, v.steps[0].config); got != want {
		t.Errorf("the config is %s, want %s", got, want)
	}
}

func TestRequestsThatFailAreRepeatedAndLiesAreRefused(t *testing.T) {
	v := newVillage(t, 16, 40)
	const first = 10
	isParent := func(query any) bool { _, is := query.(ton.GetAccountState); return is }
	for name, fault := range map[string]litetest.Fault{
		"silence": func(context.Context, litetest.Request, litetest.Handler) any { return nil },
		"an error": func(context.Context, litetest.Request, litetest.Handler) any {
			return ton.LSError{Code: 500, Text: "out of order"}
		},
		"another account's state": func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			q := r.Query.(ton.GetAccountState)
			q.Account.ID = slices.Clone(q.Account.ID)
			q.Account.ID[0]++
			r.Query = q
			return honest(ctx, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDeskOn(t, t.TempDir(), v.pool(), func(c *Configuration) { c.Fetch.Timeout = time.Second })
			v.faults.BreakFor(isParent, fault)
			defer d.fetching()()
			for _, s := range v.steps[first-1:] {
				b := s.bundle()
				if b.mcSeqno == first {
					b.prev = 0
				}
				d.do(b)
			}
			for deadline := time.Now().Add(time.Minute); outcome(d, "parent", "failed") == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("no request failed")
				}
			}
			if n := outcome(d, "parent", "taken"); n != 0 {
				t.Errorf("%v parents were taken from a server that has %s", n, name)
			}
			v.faults.Break(nil)
			for range 3 {
				d.idle()
				last := d.now
				d.do(&bundle{mcSeqno: last.mcSeqno + 1, prev: last.mcSeqno, seal: last.seal})
			}
			if n := outcome(d, "parent", "taken"); n == 0 {
				t.Errorf("%v parents were taken after the server was repaired, want some", n)
			}
		})
	}
}

func TestABundleThatIsDoneAgainGetsTheSameAnswers(t *testing.T) {
	v := newVillage(t, 16, 40)
	const first = 10
	dir := t.TempDir()
	d := newDeskOn(t, dir, v.pool())
	var last *bundle
	for _, s := range v.steps[first-1:] {
		last = s.bundle()
		if last.mcSeqno == first {
			last.prev = 0
		}
		d.do(last)
	}
	stop := d.fetching()
	defer func() { stop() }()
	d.idle()
	// The answers are in this bundle; it is published, and the process dies before
	// its store knows.
	next := &bundle{mcSeqno: last.mcSeqno + 1, prev: last.mcSeqno, seal: last.seal}
	published := d.run(next)
	rows := 0
	for _, records := range published.Records {
		for _, r := range records {
			rows += len(r.GetContracts().GetContracts())
		}
	}
	if rows == 0 {
		t.Fatal("no answers came into the bundle")
	}
	stop()
	d.leave()
	again := newDeskOn(t, dir, v.pool())
	again.horizon = next.mcSeqno - 1 // the log has no seal of it
	stop = again.fetching()
	again.fetcher.at(next.seal.Master)
	again.wantAgain()
	again.idle() // other answers are there already
	repeated := &bundle{mcSeqno: next.mcSeqno, prev: next.prev, seal: next.seal}
	for p, records := range again.run(repeated).Records {
		if got, want := encoded(t, records), encoded(t, published.Records[p]); string(got) != string(want) {
			t.Errorf("partition %d: %d bytes, want the %d of before", p, len(got), len(want))
		}
	}
}

// fromAlone is from without anybody to be asked.
func (d *desk) fromAlone(v *village, first uint32) {
	d.Helper()
	for _, s := range v.steps[first-1:] {
		b := s.bundle()
		if b.mcSeqno == first {
			b.prev = 0
		}
		d.do(b)
	}
}

// lender serves a chain of which an account lends a code to everybody.
func lender(t *testing.T, code *cell.Cell) *lite.Pool {
	t.Helper()
	// PUSHREF, 2 PUSHINT, SETLIBCODE: with every tick.
	lend := cell.BeginCell().MustStoreSlice([]byte{0x88, 0x72, 0xfb, 0x06}, 32).MustStoreRef(code).EndCell()
	c, err := chain.New(chain.Options{Seed: 1, GenUtime: 1_700_000_000, Accounts: []chain.Account{
		{Workchain: -1, ID: [32]byte(bytes.Repeat([]byte{0x61}, 32)), Code: lend, Data: cell.BeginCell().EndCell(), Balance: big.NewInt(1e12), Tick: true}}})
	if err != nil {
		t.Fatal(err)
	}
	master, base := c.Zerostates()
	store := litetest.NewStore(t, history.Options{}, master, base)
	for i := range uint32(3) {
		b, err := c.Step(1_700_000_005+5*i, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	global, err := litetest.Serve(t, liteserver.Dependencies{History: store}).GlobalConfig()
	if err != nil {
		t.Fatal(err)
	}
	settings := lite.DefaultConfiguration()
	settings.Inline = global
	return started(t, settings)
}

func TestALibraryThatNoBlockShowedIsFetched(t *testing.T) {
	init, _ := lent(t, minter.StateInit())
	d := newDeskOn(t, t.TempDir(), lender(t, minter.StateInit().Code))
	defer d.fetching()()
	s := &script{desk: d, told: map[string]bool{}}
	s.next(nil)
	at, other := placeOf(t, init), person(7)
	unknown, _ := lent(t, minter.Wallet(0, person(2)).StateInit())
	s.next([]state{{at: at, init: init}, {at: other, init: unknown}})
	s.idle()
	s.next(nil)
	s.next(nil)
	if s.of(at).GetJettonMaster() == nil {
		t.Errorf("the account is %v, want a jetton master", s.of(at))
	}
	for what, want := range map[string]float64{"taken": 1, "absent": 1} {
		if got := outcome(d, "library", what); got != want {
			t.Errorf("%v libraries are %s, want %v", got, what, want)
		}
	}
}

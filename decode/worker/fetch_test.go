package worker

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/decode"
	devchain "tonscribe/devnet/chain"
	"tonscribe/internal/kafka"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/litetest"
)

// town is a devnet whose lite server can be made to misbehave, and a log that
// begins in the middle of it.
type town struct {
	*stage
	*litetest.Devnet
	faults *litetest.Faulty
	pool   *lite.Pool
	fed    int // masterchain blocks that the log has, and those before it
}

func newTown(t *testing.T, blocks, first int) *town {
	t.Helper()
	d := litetest.NewDevnet(t, 5, 1)
	d.Grow(t, blocks-1, 40)
	v := &town{stage: onEmbedded(t, 2), Devnet: d, faults: litetest.NewFaulty(d.Handle), fed: first - 1}
	c := lite.DefaultConfiguration()
	c.Config = litetest.GlobalConfig(t, d.Zero(), d.Init(), litetest.Listen(t, v.faults.Handle))
	c.CoolOff, c.CoolOffMax, c.ReconnectMin = time.Millisecond, time.Millisecond, time.Millisecond
	var err error
	if v.pool, err = lite.New(c, lite.Dependencies{Report: report.Silent()}); err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, v.pool)
	return v
}

// feedAll puts what the chain has into the log.
func (v *town) feedAll() { v.feedTo(len(v.Bundles)) }

func (v *town) feedTo(last int) {
	v.Helper()
	var bundles []*source
	for _, b := range v.Bundles[v.fed:last] {
		bundles = append(bundles, sourceOf(b))
	}
	v.fed = last
	v.feed(bundles)
}

// grow makes empty blocks, one at a time, until ok.
func (v *town) grow(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
		v.Grow(t, 1, 0)
		v.feedAll()
	}
}

func (v *town) on(t *testing.T, cells string, pool *lite.Pool) *Component {
	t.Helper()
	configuration := DefaultConfiguration()
	configuration.Cells.Dir, configuration.Fetch.Timeout = cells, 300*time.Millisecond
	c, err := New(configuration, Dependencies{Report: report.Reporter{Metrics: prometheus.NewRegistry()}, Kafka: v.Client, Lite: pool})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func fetched(c *Component, outcome string) int {
	return int(testutil.ToFloat64(c.metrics.fetches.WithLabelValues(outcome)))
}

// states are the newest of all accounts up to the last bundle, and the codes.
func (v *town) states(t *testing.T) (newest map[string]*record.Account, codes map[string]*record.Code, late int) {
	t.Helper()
	newest, codes = map[string]*record.Account{}, map[string]*record.Code{}
	for p, records := range v.output(schema.Accounts, uint32(v.fed), time.Minute) {
		if len(records) == 0 {
			t.Fatalf("partition %d does not get to bundle %d", p, v.fed)
		}
		for _, r := range records {
			batch := r.GetAccounts()
			for _, code := range batch.GetCodes() {
				codes[string(code.Hash)] = code
			}
			for _, a := range batch.GetAccounts() {
				newest[string(a.Account)] = a
			}
			for _, a := range batch.GetLate() {
				late++
				if known := newest[string(a.Account)]; known == nil || known.LastTransLt <= a.LastTransLt {
					newest[string(a.Account)] = a
				}
			}
		}
	}
	return newest, codes, late
}

// incomplete counts active accounts without code or data, and checks the rest.
func incomplete(t *testing.T, newest map[string]*record.Account, codes map[string]*record.Code) (missing int) {
	t.Helper()
	for _, a := range newest {
		checkBoC(t, "data", a.Data, a.State.DataHash)
		code := codes[string(a.State.CodeHash)]
		if code != nil {
			checkBoC(t, "code", code.Boc, code.Hash)
		}
		if len(a.State.DataHash) > 0 && len(a.Data) == 0 || len(a.State.CodeHash) > 0 && code == nil || a.State.ExtraUnknown {
			missing++
		}
	}
	return missing
}

func TestLiteServersCompleteStatesOfWhichTheBlocksShowAPart(t *testing.T) {
	v := newTown(t, 25, 15)
	v.feedAll()
	alone := v.on(t, t.TempDir(), nil)
	newest, codes, late := v.states(t)
	v.stop(alone)
	if missing := incomplete(t, newest, codes); missing == 0 || late != 0 {
		t.Fatalf("without lite servers %d of %d accounts are incomplete, %d come late; want some, none", missing, len(newest), late)
	}

	with := &town{stage: onEmbedded(t, 2), Devnet: v.Devnet, faults: v.faults, pool: v.pool, fed: 14}
	with.feedAll()
	c := with.on(t, t.TempDir(), with.pool)
	defer with.stop(c)
	var missing int
	with.grow(t, "every account is complete", func() bool {
		newest, codes, late = with.states(t)
		missing = incomplete(t, newest, codes)
		return missing == 0 && len(newest) > 0
	})
	if taken := fetched(c, "taken"); late == 0 || taken == 0 {
		t.Errorf("%d accounts came late, %d states were fetched; want some of both", late, taken)
	}
	t.Logf("%d accounts, %d came late after %d fetches", len(newest), late, fetched(c, "taken"))
}

func TestTheHeadDoesNotWaitForLiteServersAndWhatIsWantedSurvivesARestart(t *testing.T) {
	v := newTown(t, 20, 12)
	v.feedAll()
	asked := func(query any) bool { _, is := query.(ton.GetAccountState); return is }
	v.faults.BreakFor(asked, func(context.Context, litetest.Request, litetest.Handler) any { return nil })
	cells := t.TempDir()
	c := v.on(t, cells, v.pool)
	newest, codes, _ := v.states(t) // it gets to the end of the log
	before := incomplete(t, newest, codes)
	if before == 0 {
		t.Fatal("nothing is incomplete")
	}
	select {
	case <-v.faults.Hit():
	case <-time.After(time.Minute):
		t.Fatal("no lite server was asked")
	}
	v.stop(c)
	v.faults.Break(nil)
	c = v.on(t, cells, v.pool)
	defer v.stop(c)
	// No block changes these accounts any more: only the store knows what is wanted.
	v.grow(t, "every account is complete after the restart", func() bool {
		newest, codes, _ = v.states(t)
		return incomplete(t, newest, codes) == 0
	})
}

func TestAStateOfAnotherMomentIsNotTaken(t *testing.T) {
	v := newTown(t, 20, 10)
	v.feedTo(15)
	head := v.Bundles[19].Master.ID // the only block of which there is a state
	v.faults.BreakFor(func(query any) bool { _, is := query.(ton.GetAccountState); return is },
		func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			if q := r.Query.(ton.GetAccountState); q.ID.SeqNo != head.SeqNo {
				return ton.LSError{Code: 651, Text: "state already gc'd"}
			}
			return honest(ctx, r)
		})
	c := v.on(t, t.TempDir(), v.pool)
	defer v.stop(c)
	for deadline := time.Now().Add(2 * time.Minute); fetched(c, "refused") == 0 || fetched(c, "taken") == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d states are taken and %d refused, want some of both", fetched(c, "taken"), fetched(c, "refused"))
		}
	}
	v.feedTo(16)
	newest, codes, _ := v.states(t)
	incomplete(t, newest, codes) // checks every hash
	// The rest comes with the blocks that change them.
	v.faults.Break(nil)
	v.feedAll()
	v.grow(t, "every account is complete", func() bool {
		newest, codes, _ = v.states(t)
		for _, b := range v.Bundles[15:20] {
			for _, changed := range accountsOf(t, b) {
				if a := newest[changed]; a == nil || len(a.State.DataHash) > 0 && len(a.Data) == 0 {
					return false
				}
			}
		}
		return true
	})
}

// accountsOf are the accounts that a bundle changes.
func accountsOf(t *testing.T, b *devchain.Bundle) (accounts []string) {
	t.Helper()
	for _, raw := range sourceOf(b).blocks {
		result, err := decode.Block(raw.Boc, b.Master.ID.SeqNo)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range result.Changes {
			accounts = append(accounts, string(c.Account))
		}
	}
	return accounts
}

// What lite servers gave goes into no bundle that readers have already.
func TestBundlesThatWerePublishedAreKnownAlsoWhenAMemberEndedWhileItPublishedThemAgain(t *testing.T) {
	v := newTown(t, 3, 1)
	v.feedAll()
	c, err := New(DefaultConfiguration(), Dependencies{Report: report.Reporter{Metrics: prometheus.NewRegistry()}, Kafka: v.Client, Lite: v.pool})
	if err != nil {
		t.Fatal(err)
	}
	var horizons []uint32
	// life publishes bundles up to one and commits them, after the group was moved back.
	life := func(back bool, last uint32) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		live := func(ctx context.Context, source *kafka.PartitionReader) error {
			k, err := newAccountStates(ctx, c, source)
			if err != nil {
				return err
			}
			horizons = append(horizons, k.horizon)
			if back {
				return source.Rewind(ctx, 0)
			}
			for {
				item, err := source.Next(ctx)
				if err != nil {
					return err
				}
				seal := item.Record.GetSeal()
				if seal == nil {
					continue
				}
				if err := v.Publish(ctx, schema.Accounts.Name, source.Partition, []*record.Record{{McSeqno: item.Record.McSeqno,
					PrevMcSeqno: item.Record.PrevMcSeqno, Content: &record.Record_Seal{Seal: seal}}}); err != nil {
					return err
				}
				if err := source.Commit(ctx, item.Offset+1); err != nil || item.Record.McSeqno == last {
					return err
				}
			}
		}
		result := errors.New("no member of the group")
		v.Consume(ctx, "lives", []schema.Topic{schema.Blocks}, func(ctx context.Context, source *kafka.PartitionReader) error {
			if source.Partition == 0 {
				result = live(ctx, source)
				cancel()
			}
			<-ctx.Done()
			return ctx.Err()
		})
		if result != nil {
			t.Fatal(result)
		}
	}
	life(false, 3)
	life(true, 0)
	life(false, 1)
	life(false, 2)
	if want := []uint32{0, 3, 3, 3}; !slices.Equal(horizons, want) {
		t.Errorf("bundles up to %v were taken for published, want %v", horizons, want)
	}
}

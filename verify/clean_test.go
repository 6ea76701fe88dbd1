package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/decode/trace"
	"tonscribe/test/support/realdata"
)

func TestTablesFilledByTheStagesAreClean(t *testing.T) {
	for _, c := range []struct {
		name       string
		source     func(testing.TB) string
		to         uint32
		partitions int
	}{
		{"mainnet from its first block", genesis, 60, 1},
		{"mylocalton from its first block", mylocalton, 199, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := emptyTables(t)
			l.source.Source, l.to, l.states = c.source(t), c.to, realdata.Path(t, "states")
			l.fill(c.partitions)
			r, err := l.verify(func(o *Options) { o.Source = FromIngest(l.source) })
			if err != nil {
				t.Fatal(err)
			}
			for _, check := range r.Checks {
				if check.Checked == 0 && !check.Skipped && !slices.Contains([]string{CheckProducers, CheckContracts, CheckTransfers, CheckDocuments, CheckStats}, check.Name) {
					t.Errorf("check %s looked at nothing", check.Name)
				}
			}
			if r.Bundles != uint64(c.to) {
				t.Errorf("%d bundles instead of %d", r.Bundles, c.to)
			}
		})
	}
}

func TestRowsOfTheNewestBundleThatAreAboutToComeAreWaitedFor(t *testing.T) {
	l := emptyTables(t)
	l.source.Source, l.to = genesis(t), 20
	l.fill(2)
	for i, c := range []struct {
		table, gone string // and what rows of it
		last        uint32 // bundle that is verified; 0 is the newest
	}{
		{"seals", "mc_seqno >= 20", 0},
		{"seals", "mc_seqno >= 18", 18},                       // a batch tells its progress, and then its seals
		{"blocks", "mc_seqno >= 20", 19},                      // the partitions are ahead
		{"progress", "topic = 'traces' AND partition = 1", 0}, // of an index that begins
	} {
		kept := fmt.Sprint("kept_", i)
		l.exec(fmt.Sprintf("CREATE TABLE %s AS %s ENGINE = Memory", kept, c.table))
		l.exec(fmt.Sprintf("INSERT INTO %s SELECT * FROM %s WHERE %s", kept, c.table, c.gone))
		l.exec(fmt.Sprintf("ALTER TABLE %s DELETE WHERE %s SETTINGS mutations_sync = 2", c.table, c.gone))
		change := func(patience time.Duration) func(*Options) {
			return func(o *Options) { o.patience, o.To = patience, c.last }
		}
		r, err := l.verify(change(time.Millisecond))
		if !errors.Is(err, ErrDifferent) {
			t.Errorf("without rows of %s where %s and with no patience: %v, want %v", c.table, c.gone, err, ErrDifferent)
		}
		if said, want := fmt.Sprint(r.check(CheckSeals).Differences), "a sink that was killed writes it"; c.table == "seals" && !strings.Contains(said, want) {
			t.Errorf("without rows of %s where %s verify says %s, want that %s", c.table, c.gone, said, want)
		}
		back := make(chan error, 1)
		time.AfterFunc(300*time.Millisecond, func() {
			back <- l.client.Conn().Exec(l.Context(), fmt.Sprintf("INSERT INTO %s SELECT * FROM %s SETTINGS insert_deduplicate = 0", c.table, kept))
		})
		if _, err := l.verify(change(time.Minute)); err != nil {
			t.Errorf("with patience, and rows of %s where %s that come after 300 ms: %v, want none", c.table, c.gone, err)
		}
		if err := <-back; err != nil {
			t.Error(err)
		}
	}
}

func TestAccountsAreWaitedForThatAreNotRankedYet(t *testing.T) {
	l := load(t, genesis(t), 20, 2)
	l.exec("CREATE TABLE kept AS accounts_by_balance ENGINE = Memory")
	l.exec("INSERT INTO kept SELECT * FROM accounts_by_balance FINAL ORDER BY account LIMIT 3")
	l.exec("ALTER TABLE accounts_by_balance DELETE WHERE account IN (SELECT account FROM kept) SETTINGS mutations_sync = 2")
	// A batch of many rows takes longer than a few looks.
	back := make(chan error, 1)
	for _, c := range []struct {
		patience time.Duration
		then     func()
		want     error
	}{
		{time.Millisecond, func() {}, ErrDifferent},
		{time.Minute, func() {
			time.AfterFunc(20*balancePause, func() {
				back <- l.client.Conn().Exec(l.Context(), "INSERT INTO accounts_by_balance SELECT * FROM kept")
			})
		}, nil},
	} {
		v, err := open(l.Context(), Options{DSN: l.dsn, Out: l.Output(), patience: c.patience})
		if err != nil {
			t.Fatal(err)
		}
		c.then()
		if err := errors.Join(v.checkBalances(l.Context()), v.findings.verdict()); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("with a patience of %v: %v, want %v", c.patience, err, c.want)
		}
		v.close()
	}
	if err := <-back; err != nil {
		t.Error(err)
	}
}

func TestAPartitionMayHaveStoppedAheadOfTheOneThatBringsTheBlock(t *testing.T) {
	l := load(t, genesis(t), 20, 2)
	progress := `SELECT topic, partition, partitions, toUInt32(19), (SELECT max(gen_utime) FROM blocks WHERE mc_seqno = 19 AND workchain = -1)
		FROM progress WHERE topic = 'headers'`
	l.exec("CREATE TABLE behind AS progress ENGINE = Memory")
	l.exec("INSERT INTO behind (topic, partition, partitions, mc_seqno, gen_utime) " + progress)
	for _, table := range []string{"blocks", "blocks_index"} {
		l.exec("ALTER TABLE " + table + " DELETE WHERE mc_seqno = 20 SETTINGS mutations_sync = 2")
	}
	l.exec("ALTER TABLE progress DELETE WHERE topic = 'headers' SETTINGS mutations_sync = 2")
	l.exec("INSERT INTO progress SELECT * FROM behind")
	l.exec("DROP TABLE behind")
	r, err := l.verify(nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Bundles != 19 {
		t.Errorf("%d bundles were checked, want 19", r.Bundles)
	}
}

func TestABundleMayTellOfATraceThatIsTooLargeInParts(t *testing.T) {
	l := load(t, genesis(t), 20, 2)
	check := func() error {
		v, err := open(l.Context(), Options{DSN: l.dsn, Out: l.Output(), patience: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer v.close()
		return errors.Join(v.checkTraceSeals(l.Context()), v.findings.verdict())
	}
	l.exec("INSERT INTO seals SELECT * REPLACE (rows + 1 AS rows) FROM seals WHERE topic = 'traces' AND rows > 0 ORDER BY mc_seqno LIMIT 1")
	if err := check(); !errors.Is(err, ErrDifferent) {
		t.Errorf("one trace less than its bundle tells: %v, want %v", err, ErrDifferent)
	}
	l.exec(fmt.Sprintf("INSERT INTO traces SELECT * REPLACE (%d AS nodes) FROM traces LIMIT 1", trace.MaxNodes+1))
	if err := check(); err != nil {
		t.Errorf("where a trace is too large: %v, want none", err)
	}
}

package verify

import (
	"errors"
	"slices"
	"testing"
	"time"

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
	for _, table := range []string{"seals", "blocks"} {
		l.exec("CREATE TABLE kept_" + table + " AS " + table + " ENGINE = Memory")
		l.exec("INSERT INTO kept_" + table + " SELECT * FROM " + table + " WHERE mc_seqno = 20")
		l.exec("ALTER TABLE " + table + " DELETE WHERE mc_seqno = 20 SETTINGS mutations_sync = 2")
		change := func(patience time.Duration) func(*Options) {
			return func(o *Options) {
				if o.patience = patience; table == "blocks" {
					o.To = 19 // the partitions are ahead
				}
			}
		}
		if _, err := l.verify(change(time.Millisecond)); !errors.Is(err, ErrDifferent) {
			t.Errorf("without rows of %s and with no patience: %v, want %v", table, err, ErrDifferent)
		}
		back := make(chan error, 1)
		time.AfterFunc(300*time.Millisecond, func() {
			back <- l.client.Conn().Exec(l.Context(), "INSERT INTO "+table+" SELECT * FROM kept_"+table+" SETTINGS insert_deduplicate = 0")
		})
		if _, err := l.verify(change(time.Minute)); err != nil {
			t.Errorf("with patience, and rows of %s that come after 300 ms: %v, want none", table, err)
		}
		if err := <-back; err != nil {
			t.Error(err)
		}
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

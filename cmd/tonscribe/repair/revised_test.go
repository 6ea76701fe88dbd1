package repair

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/internal/parts"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/sink"
)

// index is a short chain in a log and in tables.
type index struct {
	*testing.T
	tables *clickhouse.Client
	log    *kafka.Client
}

func newIndex(t *testing.T) *index {
	t.Helper()
	ctx := t.Context()
	tables, log := openEngines(t)
	rows, traces := synthetic.NewRows(synthetic.RowOptions{Transactions: 1000, Seed: 4}), synthetic.NewTraces()
	tokens := synthetic.NewTokens(rows)
	last := uint32(0)
	for b := rows.Next(); b != nil; b = rows.Next() {
		headers, transactions, accounts := b.Records(0, 1)
		for topic, records := range map[schema.Topic][]*record.Record{
			schema.Headers: headers, schema.Transactions: transactions, schema.Accounts: accounts, schema.Contracts: tokens.Records(b, 1)[0], schema.Traces: traces.Records(b, 1)[0],
		} {
			if err := log.Publish(ctx, topic.Name, 0, records); err != nil {
				t.Fatal(err)
			}
		}
		last = b.Seqno
	}
	i := &index{t, tables, log}
	i.fill(last)
	return i
}

// fill brings the log into the tables, up to its last bundle.
func (i *index) fill(last uint32) {
	i.Helper()
	out, err := sink.New(sink.DefaultConfiguration(), sink.Dependencies{Report: report.Silent(), Kafka: i.log, ClickHouse: i.tables})
	if err != nil {
		i.Fatal(err)
	}
	if err := out.Start(i.Context()); err != nil {
		i.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // ClickHouse has no way to tell
		w, err := clickhouse.ReadWatermark(i.Context(), i.tables.Conn())
		if err == nil && w.MCSeqno == last {
			break
		}
		if time.Now().After(deadline) {
			i.Fatalf("the tables have bundle %d of %d: %v", w.MCSeqno, last, err)
		}
	}
	if err := out.Stop(context.Background()); err != nil {
		i.Fatal(err)
	}
}

// watch has looked at all parts of the tables.
func (i *index) watch() *parts.Watch {
	i.Helper()
	w, err := parts.New(parts.Options{Configuration: parts.DefaultConfiguration(), ClickHouse: i.tables, Report: report.Silent()})
	if err == nil {
		err = w.Poll(i.Context())
	}
	if err != nil {
		i.Fatal(err)
	}
	return w
}

func (i *index) exec(statement string) {
	i.Helper()
	if err := i.tables.Conn().Exec(i.Context(), statement); err != nil {
		i.Fatalf("%s: %v", statement, err)
	}
}

// sum is that of the newest rows of a table, without what says how often they were made,
// and how many there are.
func (i *index) sum(t *table.Table) (sum [2]uint64) {
	i.Helper()
	if err := i.tables.Conn().QueryRow(i.Context(), fmt.Sprintf("SELECT sum(%s), count() FROM %s FINAL", t.HashSQL(), t.Name)).Scan(&sum[0], &sum[1]); err != nil {
		i.Fatal(err)
	}
	return sum
}

// times is the sum of the rows that figures of days are made of, and how many there are.
func (i *index) times() (sum [2]uint64) {
	i.Helper()
	if err := i.tables.Conn().QueryRow(i.Context(), "SELECT sum(cityHash64(end_utime, start_lt, id_prefix, type)), count() FROM action_times FINAL").Scan(&sum[0], &sum[1]); err != nil {
		i.Fatal(err)
	}
	return sum
}

// recogniseAgain replaces the actions of every other trace by others, as
// `tonscribe reclassify` does.
func (i *index) recogniseAgain() {
	for _, name := range []string{"actions", "actions_by_list"} {
		changed := "type"
		other := map[string]string{"actions": "'nft_mint'", "actions_by_list": "type + 1"}[name]
		named := map[string]string{"actions": "id_prefix + 1 AS id_prefix, ", "actions_by_list": ""}[name]
		rows := fmt.Sprintf("FROM (SELECT * FROM %s FINAL WHERE trace_prefix %% 2 = 0)", name)
		i.exec(fmt.Sprintf("INSERT INTO %s SELECT * REPLACE (%snumber + 100 AS number, %s AS %s, 2 AS revision) %s", name, named, other, changed, rows))
		i.exec(fmt.Sprintf("INSERT INTO %s SELECT * REPLACE (1 AS revision, 1 AS gone) %s AND number < 100", name, rows[:len(rows)-1]) + ")")
	}
}

// Lists lead to actions by their numbers: those of actions that were recognised again
// lead to nothing when the log brings back the first ones, and hide that these are there.
func TestActionsThatWereRecognisedAgainComeBackWithTheirLists(t *testing.T) {
	for _, lost := range []string{"actions", "actions_by_list"} {
		t.Run(lost, func(t *testing.T) {
			i := newIndex(t)
			actions, lists, times := i.sum(&table.Actions.Table), i.sum(&table.ActionsByList.Table), i.times()
			i.recogniseAgain()
			watch := i.watch()
			i.exec("ALTER TABLE " + lost + " DETACH PARTITION ID '0'")
			for range 2 { // the second run finds nothing to do
				err := Run(t.Context(), Options{
					Tables: i.tables, Watch: watch, Partitions: 1, Sink: sink.DefaultConfiguration(), Report: report.Silent(), SkipChecksums: true,
					Log: func(context.Context) (*kafka.Client, error) { return i.log, nil }, Out: t.Output(), Progress: func(string) {},
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if have := i.sum(&table.Actions.Table); have != actions || have[1] < 500 {
				t.Errorf("%d actions with the sum %x, want %d with %x", have[1], have[0], actions[1], actions[0])
			}
			if have := i.sum(&table.ActionsByList.Table); have != lists {
				t.Errorf("%d rows of lists with the sum %x, want %d with %x", have[1], have[0], lists[1], lists[0])
			}
			if have := i.times(); have != times {
				t.Errorf("figures are made of %d actions with the sum %x, want %d with %x", have[1], have[0], times[1], times[0])
			}
		})
	}
}

// Views compute figures once a minute, some of them from what another one has made.
func TestReadyFiguresAreThereAtTheEnd(t *testing.T) {
	i := newIndex(t)
	refresh := func() {
		for _, view := range dayViews {
			if err := i.tables.Refresh(t.Context(), view); err != nil {
				t.Fatal(err)
			}
		}
	}
	figures := func() (transfers, transactions uint64) {
		const query = "SELECT (SELECT sum(transfers) FROM stats_jetton_totals), (SELECT sum(transactions) FROM stats_days FINAL)"
		if err := i.tables.Conn().QueryRow(t.Context(), query).Scan(&transfers, &transactions); err != nil {
			t.Fatal(err)
		}
		return transfers, transactions
	}
	refresh()
	transfers, transactions := figures()
	watch := i.watch()
	for _, name := range []string{"stats_jetton_days", "stats_days"} {
		i.exec("ALTER TABLE " + name + " DETACH PARTITION ID 'all'")
	}
	i.exec("TRUNCATE TABLE stats_touched") // days that nothing touches
	refresh()
	if n, _ := figures(); transfers == 0 || transactions == 0 || n > 0 {
		t.Fatalf("%d transfers and %d transactions, then %d transfers; want some, then none", transfers, transactions, n)
	}
	err := Run(t.Context(), Options{
		Tables: i.tables, Watch: watch, Partitions: 1, Sink: sink.DefaultConfiguration(), Report: report.Silent(), SkipChecksums: true,
		Log: func(context.Context) (*kafka.Client, error) { return i.log, nil }, Out: t.Output(), Progress: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, m := figures(); n != transfers || m != transactions {
		t.Errorf("%d transfers and %d transactions, want %d and %d", n, m, transfers, transactions)
	}
}

// Beside stages that run, headers are ahead of traces: what the tables have no rows of is
// not to be in the log, and what comes into them meanwhile stays.
func TestTheLogSufficesWhereSomeStagesAreAheadOfOthers(t *testing.T) {
	i := newIndex(t)
	const newest = "(SELECT max(mc_seqno) FROM progress)"
	for _, name := range []string{"blocks", "seals"} {
		i.exec(fmt.Sprintf("INSERT INTO %[1]s SELECT * REPLACE (toUInt32(mc_seqno + 50) AS mc_seqno%[2]s) FROM (SELECT * FROM %[1]s WHERE mc_seqno = %[3]s%[4]s)", name,
			map[string]string{"seals": ", toUInt32(mc_seqno + 49) AS prev_mc_seqno"}[name], newest, map[string]string{"seals": " AND topic = 'headers'"}[name]))
	}
	i.recogniseAgain()
	watch := i.watch()
	i.exec("ALTER TABLE actions_by_list DETACH PARTITION ID '0'")
	for _, name := range []string{"actions", "actions_by_list"} {
		i.exec(fmt.Sprintf("INSERT INTO %[1]s SELECT * REPLACE (toUInt32(mc_seqno + 20) AS mc_seqno, trace_prefix + 1 AS trace_prefix) FROM (SELECT * FROM %[1]s WHERE mc_seqno = %[2]s AND revision = 0)", name, newest))
	}
	var coming, left uint64
	const standing = "SELECT count() FROM actions FINAL WHERE mc_seqno > " + newest
	if err := i.tables.Conn().QueryRow(t.Context(), standing).Scan(&coming); err != nil || coming == 0 {
		t.Fatalf("%d actions of bundles that are coming: %v", coming, err)
	}
	err := Run(t.Context(), Options{
		Tables: i.tables, Watch: watch, Partitions: 1, Sink: sink.DefaultConfiguration(), Report: report.Silent(), SkipChecksums: true,
		Log:    func(context.Context) (*kafka.Client, error) { return i.log, nil },
		Source: func(context.Context) (*Source, error) { return nil, errors.New("none is named") },
		Out:    t.Output(), Progress: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := i.tables.Conn().QueryRow(t.Context(), standing).Scan(&left); err != nil || left != coming {
		t.Errorf("%d actions of bundles that are coming are left of %d: %v", left, coming, err)
	}
}

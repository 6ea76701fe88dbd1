package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/reclassify"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// reclassify recognises a range again, or all of it.
func (l *tables) reclassify(from, to uint32) reclassify.Progress {
	l.Helper()
	done, err := reclassify.Run(l.Context(), reclassify.Options{Tables: l.client, From: from, To: to, Out: l.Output(), Pause: time.Millisecond})
	if err != nil {
		l.Fatal(err)
	}
	return done
}

// everyRow is the sum of the newest rows of a table, and how many there are. Numbers do not
// count: actions that are recognised again have others.
func (l *tables) everyRow(t *table.Table) (sum [2]uint64) {
	l.Helper()
	unnumbered := *t
	unnumbered.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c table.Column) bool { return strings.HasSuffix(c.Name, "number") })
	query := fmt.Sprintf("SELECT sum(%s + cityHash64(%s)), count() FROM %s FINAL", unnumbered.HashSQL(), map[bool]string{true: "record", false: "''"}[t == &table.Actions.Table], t.Name)
	if err := l.client.Conn().QueryRow(l.Context(), query).Scan(&sum[0], &sum[1]); err != nil {
		l.Fatal(err)
	}
	return sum
}

func TestActionsThatAreRecognisedAgainAreThoseThatTheStageMade(t *testing.T) {
	l := town(t, 3000, 2)
	actions := []*table.Table{&table.Actions.Table, &table.ActionsByList.Table}
	var before [2][2]uint64
	for i, of := range actions {
		before[i] = l.everyRow(of)
	}
	var past, moved uint64
	if err := l.client.Conn().QueryRow(t.Context(), "SELECT (SELECT count() FROM past_contracts), (SELECT count() FROM actions WHERE type IN ('nft_transfer', 'nft_purchase', 'jetton_transfer'))").Scan(&past, &moved); err != nil {
		t.Fatal(err)
	}
	if past < 10 || moved < 20 {
		t.Fatalf("%d contracts became something else, %d actions are of tokens: too little is seen", past, moved)
	}
	if r, err := l.verify(only(CheckActions)); err != nil || r.check(CheckActions).Checked < 500 {
		t.Fatalf("%d actions were checked: %v", r.check(CheckActions).Checked, err)
	}
	same := func(t *testing.T) {
		t.Helper()
		for i, of := range actions {
			if have := l.in(t).everyRow(of); have != before[i] {
				t.Errorf("%s has %d rows with the sum %x, want %d with %x", of.Name, have[1], have[0], before[i][1], before[i][0])
			}
		}
	}
	t.Run("nothing is written where nothing has changed", func(t *testing.T) {
		l := l.in(t)
		if done := l.reclassify(0, 0); done.Changed != 0 || done.Traces < 200 {
			t.Errorf("of %d traces %d have changed", done.Traces, done.Changed)
		}
		var revised uint64
		if err := l.client.Conn().QueryRow(t.Context(), "SELECT (SELECT countIf(revision > 0) FROM actions) + (SELECT countIf(revision > 0) FROM actions_by_list)").Scan(&revised); err != nil || revised > 0 {
			t.Errorf("%d rows were written, %v", revised, err)
		}
		same(t)
	})
	// The damage is done as ClickHouse would show it after a version that recognised
	// otherwise: rows of lists go along.
	key := func(where string) string {
		var prefix, lt uint64
		var number uint32
		if err := l.client.Conn().QueryRow(t.Context(), "SELECT trace_prefix, trace_end_lt, number FROM actions FINAL WHERE "+where+" ORDER BY trace_end_lt, trace_prefix, number LIMIT 1").Scan(&prefix, &lt, &number); err != nil {
			t.Fatal(where, err)
		}
		return fmt.Sprintf("trace_prefix = %d AND trace_end_lt = %d AND number = %d", prefix, lt, number)
	}
	for _, c := range []struct {
		name  string
		says  string
		spoil func(l *tables)
	}{
		{"a wrong type", "that is recognised", func(l *tables) {
			l.exec("ALTER TABLE actions UPDATE type = 'nft_mint' WHERE " + key("type = 'jetton_transfer'") + " SETTINGS mutations_sync = 1")
		}},
		{"another record", "that is recognised", func(l *tables) {
			l.exec("ALTER TABLE actions UPDATE record = concat(record, unhex('1801')) WHERE " + key("type = 'nft_transfer'") + " SETTINGS mutations_sync = 1")
		}},
		{"a missing action", "is recognised", func(l *tables) {
			k := key("type = 'ton_transfer'")
			deleteRow(l, "actions", k)
			deleteRow(l, "actions_by_list", k)
		}},
		{"an action too many", "that is not recognised", func(l *tables) {
			k := key("type = 'jetton_transfer'")
			l.exec("INSERT INTO actions SELECT * REPLACE (number + 100 AS number, bitXor(id_prefix, 1) AS id_prefix) FROM (SELECT * FROM actions WHERE " + k + ")")
			l.exec("INSERT INTO actions_by_list SELECT * REPLACE (number + 100 AS number) FROM (SELECT * FROM actions_by_list WHERE " + k + ")")
		}},
		{"another action in its stead", "recognised: ", func(l *tables) {
			l.exec("ALTER TABLE actions UPDATE id_prefix = bitXor(id_prefix, 1), type = 'nft_mint' WHERE " + key("type = 'nft_transfer'") + " SETTINGS mutations_sync = 1")
		}},
		{"a list that an earlier run left behind", "", func(l *tables) {
			l.exec("ALTER TABLE actions_by_list UPDATE until = 7 WHERE revision > 0 AND NOT gone SETTINGS mutations_sync = 1")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := l.in(t)
			c.spoil(l)
			if c.says != "" {
				r, err := l.verify(only(CheckActions))
				if said := fmt.Sprint(r.check(CheckActions).Differences); !errors.Is(err, ErrDifferent) || !strings.Contains(said, c.says) {
					t.Errorf("verify says %s, %v, want %q", said, err, c.says)
				}
			}
			l.reclassify(0, 0)
			same(t)
			if _, err := l.verify(func(o *Options) { o.Without = withoutAllBut(CheckTraces, CheckActions) }); err != nil {
				t.Errorf("verify: %v", err)
			}
		})
	}
	// Of two rows of one revision the one counts that came last: so does an action that
	// another version made of the same blocks.
	t.Run("another action of the same revision", func(t *testing.T) {
		l := l.in(t)
		l.exec("SYSTEM STOP MERGES actions")
		defer l.exec("SYSTEM START MERGES actions")
		k := key("type = 'jetton_transfer'")
		l.exec("INSERT INTO actions SELECT * REPLACE ('nft_mint' AS type) FROM (SELECT * FROM actions FINAL WHERE " + k + ")")
		r, err := l.verify(only(CheckTraces, CheckActions))
		if said := fmt.Sprint(r.check(CheckActions).Differences); !errors.Is(err, ErrDifferent) || !strings.Contains(said, "that is recognised") {
			t.Errorf("verify says %s, %v", said, err)
		}
		if found := r.check(CheckTraces).Differences; len(found) != 1 || !strings.HasPrefix(found[0].What, "column type is ") {
			t.Errorf("verify says of columns and lists %v, want of the type alone", found)
		}
		if done := l.reclassify(0, 0); done.Changed != 1 {
			t.Errorf("%d traces have changed", done.Changed)
		}
		same(t)
	})
	t.Run("lists that change meanwhile", func(t *testing.T) {
		l := l.in(t)
		var prefix, lt uint64
		if err := l.client.Conn().QueryRow(t.Context(), "SELECT trace_prefix, trace_end_lt FROM actions FINAL WHERE type = 'nft_transfer' LIMIT 1").Scan(&prefix, &lt); err != nil {
			t.Fatal(err)
		}
		rows := func(table string) string {
			return fmt.Sprintf("(SELECT * FROM %s FINAL WHERE trace_prefix = %d AND trace_end_lt = %d)", table, prefix, lt)
		}
		l.exec("INSERT INTO actions_by_list SELECT * REPLACE (number + 100 AS number, time_number + 100 AS time_number, revision + 2 AS revision) FROM " + rows("actions_by_list"))
		lists := func(patience time.Duration) error {
			_, err := l.verify(func(o *Options) { o.patience, o.Without = patience, withoutAllBut(CheckTraces) })
			return err
		}
		if err := lists(time.Millisecond); !errors.Is(err, ErrDifferent) {
			t.Errorf("without patience: %v, want %v", err, ErrDifferent)
		}
		changed := make(chan error, 1)
		time.AfterFunc(2*time.Second, func() {
			for _, statement := range []string{
				"INSERT INTO actions SELECT * REPLACE (number + toUInt32(100 * n) AS number, toUInt32(revision + 1 + n) AS revision, toUInt8(n = 0) AS gone) FROM " + rows("actions") + " ARRAY JOIN [0, 1] AS n",
				"INSERT INTO actions_by_list SELECT * REPLACE (revision + 1 AS revision, 1 AS gone) FROM " + rows("actions_by_list") + " WHERE number < 100",
			} {
				if err := l.client.Conn().Exec(t.Context(), statement); err != nil {
					changed <- err
					return
				}
			}
			changed <- nil
		})
		if err := errors.Join(lists(time.Minute), <-changed); err != nil {
			t.Errorf("with patience, and actions that change after 2 s: %v, want none", err)
		}
		same(t)
	})
	for name, spoil := range map[string]string{
		"is not what it was before": "INSERT INTO past_contracts SELECT * REPLACE (toUInt32(1) AS mc_seqno) FROM past_contracts LIMIT 1",
		"but contracts has no row":  "ALTER TABLE contracts DELETE WHERE account IN (SELECT account FROM past_contracts) SETTINGS mutations_sync = 1",
	} {
		t.Run("what contracts were: "+name, func(t *testing.T) {
			l := l.in(t)
			defer l.save("contracts")()
			defer l.save("past_contracts")()
			l.exec(spoil)
			r, err := l.verify(only(CheckContracts))
			if said := fmt.Sprint(r.check(CheckContracts).Differences); !errors.Is(err, ErrDifferent) || !strings.Contains(said, "past_contracts") {
				t.Errorf("verify says %s, %v", said, err)
			}
		})
	}
	t.Run("items that end with the transfer", func(t *testing.T) {
		l := l.in(t)
		defer l.save("contracts")()
		var ended []string
		var account, raw string
		query := "SELECT account, record FROM contracts FINAL WHERE roles = 8 AND (account, mc_seqno) IN (SELECT account, mc_seqno FROM past_contracts)"
		if err := clickhouse.Each(t.Context(), l.client.Conn(), query, nil, func() {
			c := new(record.Contract)
			if err := c.UnmarshalVT([]byte(raw)); err != nil {
				t.Fatal(err)
			}
			nothing, err := (&record.Contract{Account: c.Account, McSeqno: c.McSeqno + 1, FirstMcSeqno: c.FirstMcSeqno}).MarshalVT()
			if err != nil {
				t.Fatal(err)
			}
			ended = append(ended, fmt.Sprintf("INSERT INTO contracts SELECT * REPLACE (toUInt32(mc_seqno + 1) AS mc_seqno, unhex('%x') AS record) FROM contracts FINAL WHERE account = unhex('%x')", nothing, account))
		}, &account, &raw); err != nil || len(ended) == 0 {
			t.Fatalf("%d items became something else with the last bundle of theirs: %v", len(ended), err)
		}
		for _, insert := range ended {
			l.exec(insert)
		}
		if done := l.reclassify(0, 0); done.Changed != 0 {
			t.Errorf("%d items end, %d traces are something else", len(ended), done.Changed)
		}
		same(t)
	})
	t.Run("beside a repair", func(t *testing.T) {
		l := l.in(t)
		_, err := reclassify.Run(t.Context(), reclassify.Options{Tables: l.client, From: 2, Progress: func(p reclassify.Progress) {
			if p.Bundle == p.To {
				l.exec("INSERT INTO repairs VALUES ('actions', now64(6, 'UTC'))")
			}
		}})
		if want := "from bundle 2 on: actions were brought back by a repair meanwhile"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		l.reclassify(2, 0)
		same(t)
	})
	t.Run("a part of the range, and what was stopped", func(t *testing.T) {
		l := l.in(t)
		k := key("type = 'ton_transfer' AND mc_seqno > 5")
		l.exec("ALTER TABLE actions UPDATE type = 'nft_mint' WHERE " + k + " SETTINGS mutations_sync = 1")
		var bundle uint32
		if err := l.client.Conn().QueryRow(t.Context(), "SELECT mc_seqno FROM actions WHERE "+k).Scan(&bundle); err != nil {
			t.Fatal(err)
		}
		if done := l.reclassify(1, bundle-1); done.Changed != 0 {
			t.Errorf("%d traces before bundle %d have changed", done.Changed, bundle)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var said strings.Builder
		_, err := reclassify.Run(ctx, reclassify.Options{Tables: l.client, Out: &said, Pause: time.Minute, Progress: func(p reclassify.Progress) {
			if p.Bundle == p.To {
				cancel()
			}
		}})
		var from uint32
		if _, scan := fmt.Sscanf(said.String(), "stopped: go on with --from %d", &from); !errors.Is(err, reclassify.ErrStopped) || scan != nil || from > bundle {
			t.Errorf("%v: it says %q", err, said.String())
		}
		if done := l.reclassify(from, 0); done.Changed != 1 {
			t.Errorf("%d traces have changed", done.Changed)
		}
		same(t)
	})
}

func withoutAllBut(checks ...string) (without []string) {
	for _, name := range Checks {
		if !slices.Contains(checks, name) {
			without = append(without, name)
		}
	}
	return without
}

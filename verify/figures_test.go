package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// mergedTables are those whose merges count as changes.
var mergedTables = []string{"accounts", "jetton_wallets"}

// settleFigures makes the ready figures anew until they are of after the last
// change of their tables, and dates the changes back.
func (l *tables) settleFigures() {
	l.Helper()
	for _, name := range mergedTables {
		l.exec("SYSTEM STOP MERGES " + name)
	}
	for n := range statsTables {
		l.refresh(statsTables[n].view)
	}
	l.exec("CREATE TABLE touched_before AS stats_touched")
	l.exec("INSERT INTO touched_before SELECT source, day, touched - INTERVAL 1 DAY FROM stats_touched")
	l.exec("TRUNCATE TABLE stats_touched")
	l.exec("INSERT INTO stats_touched SELECT * FROM touched_before")
	for n := range statsTables {
		f := &statsTables[n]
		v := &verifier{database: &database{l.client}}
		for {
			l.refresh(f.view)
			changed, err := v.changes(l.Context(), f)
			if err != nil {
				l.Fatal(err)
			}
			ran, err := v.lastRun(l.Context(), f)
			if err != nil {
				l.Fatal(err)
			}
			if latest := slices.MaxFunc(slices.Collect(maps.Values(changed)), time.Time.Compare); ran.After(latest) {
				break
			}
		}
	}
}

// refresh makes a view's figures anew, after the run that may be under way.
func (l *tables) refresh(view string) {
	l.Helper()
	for _, statement := range []string{"SYSTEM WAIT VIEW ", "SYSTEM REFRESH VIEW ", "SYSTEM WAIT VIEW "} {
		l.exec(statement + view)
	}
}

func (l *tables) wrongFigures(t *testing.T) {
	l = l.in(t)
	defer func() {
		for _, name := range mergedTables {
			l.exec("SYSTEM START MERGES " + name) // damage is done by them
		}
	}()
	// The chain may have no exchanges.
	l.exec("INSERT INTO actions SELECT * REPLACE ('jetton_swap' AS type, toUInt64(1) AS start_lt) FROM (SELECT * FROM actions WHERE empty(ancestors) LIMIT 1)")
	defer func() {
		deleteRow(l, "actions", "start_lt = 1")
		deleteRow(l, "action_times", "type = 'jetton_swap'")
		l.exec("TRUNCATE TABLE stats_pool_days")
	}()
	l.settleFigures()
	for n := range statsTables { // a run of a view would mend what is damaged
		l.exec("SYSTEM STOP VIEW " + statsTables[n].view)
		defer l.exec("SYSTEM START VIEW " + statsTables[n].view)
	}
	r, err := l.verify(only(CheckStats))
	if err != nil {
		t.Fatal(err)
	}
	if r.Unsettled > 0 || r.check(CheckStats).Checked == 0 {
		t.Fatalf("%d figures are not settled, %d were checked", r.Unsettled, r.check(CheckStats).Checked)
	}
	for n := range statsTables {
		defer l.save(statsTables[n].table)()
	}
	most := 1
	if long() {
		for n := range statsTables {
			most = max(most, len(statsTables[n].values))
		}
	}
	for round := -1; round < most; round++ {
		damageFigures(t, l, round)
	}
}

// damageFigures changes the figure of a place in the rows of each table, or takes
// all rows away.
func damageFigures(t *testing.T, l *tables, place int) {
	t.Helper()
	says := map[string]string{}
	for n := range statsTables {
		f := &statsTables[n]
		if place >= len(f.values) {
			continue
		}
		l.exec("TRUNCATE TABLE " + f.table)
		says[f.table] = "it has no row"
		if place >= 0 {
			says[f.table] = "it has " + f.values[0]
			l.exec(fmt.Sprintf("INSERT INTO %s SELECT * REPLACE (%s + 1 AS %s) FROM saved_%s SETTINGS insert_deduplicate = 0", f.table, f.values[place], f.values[place], f.table))
		}
	}
	r, err := l.verify(only(CheckStats))
	if !errors.Is(err, ErrDifferent) {
		t.Errorf("place %d: nothing was found: %v", place, err)
		return
	}
	for table, what := range says {
		if !slices.ContainsFunc(r.check(CheckStats).Differences, func(d Difference) bool { return d.Table == table && strings.Contains(d.What, what) }) {
			t.Errorf("table %s, %q: it is not named", table, what)
		}
	}
}

// Package answers holds two builds of the program against each other. Both index
// the same chains, get the same requests and must give the same answers, byte for
// byte; their tables must have the same rows. It must know nothing of what either
// build is like inside: requests are made of the documents that the first build
// gives and of what it answers.
package answers

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tonscribe/test/support/harness"
	"tonscribe/test/support/litetest"
	"tonscribe/test/support/realdata"
)

var (
	before       = flag.String("before", "", "`BINARY` before a change (default: the tree's own)")
	after        = flag.String("after", "", "`BINARY` after the change (default: the tree's own)")
	transactions = flag.Int("transactions", 3000, "make a chain of about `N` transactions")
)

// isLong reports whether more is run than what every test run has the time for.
func isLong() bool {
	return *before != "" || *after != "" || os.Getenv("TONSCRIBE_TEST_LONG") != ""
}

// Without -before and -after it is the same build twice, which shows that answers
// depend on nothing but the chain and the request.
func TestTwoBuildsAnswerTheSame(t *testing.T) {
	builds := [2]string{binary(t, *before), binary(t, *after)}
	t.Run("devnet", func(t *testing.T) { compareBuilds(t, builds, generated(t)) })
	if !isLong() {
		return
	}
	t.Run("mainnet", func(t *testing.T) {
		compareBuilds(t, builds, chain{source: "files:" + realdata.Path(t, "blocks", "mainnet_genesis_mc1-199"), last: 60, effort: someEffort})
	})
	t.Run("mylocalton", func(t *testing.T) {
		compareBuilds(t, builds, chain{source: "archive:" + realdata.Path(t, "packs", "mylocalton_mc1-264"), last: 199, effort: someEffort})
	})
}

// binary is the build at a path, from the module's folder on.
func binary(t *testing.T, path string) string {
	t.Helper()
	if path == "" {
		return harness.Binary(t)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(harness.Root(), path)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// chain is what both builds index.
type chain struct {
	source string
	last   int // masterchain seqno
	flags  []string
	effort effort
}

const seed = 11

// generated is a chain of the devnet with traffic of every kind, and its lite
// server. Nothing is added to it any more.
func generated(t *testing.T) chain {
	t.Helper()
	blocks, perBlock := max(45, *transactions/200), min(200, *transactions/45)
	c := chain{effort: fullEffort}
	if !isLong() {
		blocks, perBlock, c.effort = 15, 20, littleEffort
	}
	d := litetest.NewDevnet(t, seed, 1)
	d.Grow(t, blocks/3, perBlock)
	d.Split(t)
	d.Grow(t, blocks/3, perBlock)
	d.Merge(t)
	d.Grow(t, blocks/3, perBlock)
	go func() {
		for {
			select {
			case <-d.Sent:
			case <-t.Context().Done():
				return
			}
		}
	}()
	dir := t.TempDir()
	d.Write(t, dir)
	c.source, c.last = "files:"+dir, len(d.Bundles)
	c.flags = []string{"--network", "devnet", "--liteservers", d.Config(t)}
	return c
}

const indexLimit = 30 * time.Minute

// compareBuilds lets two builds index a chain and answer the same requests.
func compareBuilds(t *testing.T, builds [2]string, c chain) {
	first, second := start(t, builds[0], c), start(t, builds[1], c)
	for _, s := range []*server{first, second} {
		s.awaitIndexed(t)
	}
	began := time.Now()
	plan := newPlan(t, first, c)
	result := compare(t, first, second, plan.requests())
	result.report(t)
	t.Logf("%s: %d requests in %s, by status %v; %d differences", t.Name(), result.sent, time.Since(began).Round(time.Second), result.statuses, result.different)
	t.Logf("never answered with 200: %q", result.neverSucceeded(plan.operations))
	compareTables(t, first.dsn, second.dsn)
	for _, s := range []*server{first, second} {
		s.process.Stop()
	}
}

// compareTables compares the rows of all tables.
func compareTables(t *testing.T, before, after string) {
	t.Helper()
	for _, fingerprint := range []func(testing.TB, string) map[string]string{harness.Fingerprint, harness.FingerprintOfFigures} {
		want, got := fingerprint(t, before), fingerprint(t, after)
		for _, difference := range harness.Differences(got, want) {
			t.Error(difference)
		}
		for _, table := range slices.Sorted(maps.Keys(want)) {
			if got[table] != "" && got[table] != want[table] {
				t.Errorf("table %s differs in the columns %q", table, differing(harness.Columns(t, after, table), harness.Columns(t, before, table)))
			}
		}
		t.Logf("%d tables", len(want))
	}
}

// differing are the names that two maps do not have the same value of.
func differing(got, want map[string]string) (names []string) {
	for name := range want {
		if got[name] != want[name] {
			names = append(names, name)
		}
	}
	for name := range got {
		if _, there := want[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// patience keeps a slow machine from being what answers differ by.
var patience = []string{
	"TONSCRIBE_QUERY_TIMEOUT=5m", "TONSCRIBE_API_DEADLINE=5m", "TONSCRIBE_API_EMULATION_DEADLINE=1m",
	"TONSCRIBE_API_LITE_TIMEOUT=2m", "TONSCRIBE_API_LITE_ATTEMPT_TIMEOUT=1m",
}

// start indexes a chain whose end is known.
func start(t *testing.T, binary string, c chain) *server {
	t.Helper()
	s := newServer(t)
	s.start(t, binary, c, patience, "--to", fmt.Sprint(c.last), "--serve")
	return s
}

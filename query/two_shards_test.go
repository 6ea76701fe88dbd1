package query

import (
	"net/http"
	"strings"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/schema/migrations"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/clustertest"
)

// The tables of a cluster are asked like those of one node, and their answers are the
// same to the byte.
func TestAnswersOfTwoShardsAreThoseOfOneNode(t *testing.T) {
	t.Parallel()
	one := wholeWorld(t)
	bundles := one.bundles
	engines, dsn := clustertest.Shards(t)
	if err := migrations.Up(t.Context(), dsn, migrations.Options{Cluster: clustertest.Name}); err != nil {
		t.Fatal(err)
	}
	two := &world{engine: engines[0], bundles: bundles, tokens: synthetic.NewTokens(one.rows)}
	two.tables, two.reader = clienttest.ClickHouse(t, dsn), clienttest.ClickHouse(t, engines[0].ReadOnlyHTTPDSN())
	two.sink(t)

	whole, sharded := one.serve(t, holdNothing), two.serve(t, holdNothing)
	requests := combinations(t, whole.documentedParameters(), one.keys, bundles)
	if !long() {
		requests, _ = covering(requests)
	}
	compared, differ := 0, 0
	for n, c := range requests {
		if !long() && n%4 != 0 || strings.Contains(c.path, "/stats") || c.query.Get("use_v2") != "" {
			continue // each shard computes its figures when it does; no lite servers here
		}
		path := c.String()
		got, want := sharded.ask(path), whole.ask(path)
		compared++
		if got.Code != want.Code || got.Body.String() != want.Body.String() {
			if differ++; differ < 20 {
				t.Errorf("%s:\ntwo shards: %d %.400s\none node:   %d %.400s", path, got.Code, difference(got.Body.String(), want.Body.String()), want.Code, difference(want.Body.String(), got.Body.String()))
			}
			continue
		}
		next := nextOf(want)
		if want.Code != http.StatusOK || next == "" || c.query.Has("offset") {
			continue
		}
		path += "&cursor=" + strings.ReplaceAll(next, "+", "%2B")
		if got, want := sharded.ask(path).Body.String(), whole.ask(path).Body.String(); got != want {
			t.Errorf("%s:\ntwo shards: %.400s\none node:   %.400s", path, difference(got, want), difference(want, got))
		}
	}
	if compared < 100 {
		t.Errorf("%d answers were compared, want more", compared)
	}
	t.Logf("%d answers compared, %d differ", compared, differ)
}

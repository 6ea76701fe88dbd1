package answers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
)

// A replica that has half of the chain in memory, where the sink lets the tables wait,
// answers as one that has it in its tables.
func TestWhatOnlyTheLogHasIsAnsweredAsIfTheTablesHadIt(t *testing.T) {
	c, binary := generated(t), harness.Binary(t)
	whole, half := start(t, binary, c), newServer(t)
	whole.awaitIndexed(t)
	begun := c
	begun.last = c.last / 2
	half.start(t, binary, c, patience, "--to", fmt.Sprint(begun.last), "--serve")
	half.awaitIndexed(t)
	half.process.Stop()
	half.start(t, binary, c, append([]string{"TONSCRIBE_SINK_EVERY=0s", "TONSCRIBE_SINK_QUIET=24h", "TONSCRIBE_SINK_MAX_WAIT=24h"}, patience...))
	half.awaitIndexed(t)
	harness.Await(t, time.Minute, func() bool { return half.newest(t) == c.last }, func() string {
		return fmt.Sprintf("the newest bundle is %d, want %d", half.newest(t), c.last)
	})
	plan := newPlan(t, whole, c)
	requests := slices.DeleteFunc(plan.requests(), func(r *request) bool {
		return strings.Contains(strings.ToLower(r.target), "/stats/") // figures of a day are those of the tables
	})
	began := time.Now()
	result := compare(t, whole, half, requests)
	result.report(t)
	t.Logf("%d requests in %s, by status %v; %d differences", result.sent, time.Since(began).Round(time.Second), result.statuses, result.different)
	if n := harness.Watermark(t, half.dsn); n != uint32(begun.last) {
		t.Errorf("the tables have bundle %d, want %d: not only memory was asked", n, begun.last)
	}
}

// newest is the newest masterchain block that a server shows.
func (s *server) newest(t *testing.T) int {
	t.Helper()
	var info struct {
		Last struct {
			Seqno int `json:"seqno"`
		} `json:"last"`
	}
	harness.GetJSON(t, s.base+"/api/v3/masterchainInfo", &info)
	return info.Last.Seqno
}

package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/devnet"
)

// watched lets the command look at an API that shows a block some requests after
// it was produced.
func watched(t *testing.T, blocks uint32) Dependencies {
	var asked atomic.Uint32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-API-Key") != "secret" || r.URL.Path != "/api/v3/masterchainInfo" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		n := asked.Add(1)
		if n < 3 {
			http.Error(w, `{"error":"no masterchain block is indexed yet"}`, http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, `{"last":{"seqno":%d}}`, n/3)
	}))
	t.Cleanup(s.Close)
	return Dependencies{Live: func(ctx context.Context, _ *cobra.Command, _ int, watch func(context.Context, Live) error) error {
		produced := make(chan devnet.Produced, blocks)
		for seqno := uint32(1); seqno <= blocks; seqno++ {
			produced <- devnet.Produced{Seqno: seqno, At: time.Now().Add(time.Duration(seqno) * time.Nanosecond), Took: time.Millisecond, Transactions: 5}
		}
		close(produced)
		return watch(ctx, Live{API: s.URL, Key: "secret", Produced: produced})
	}}
}

func TestLatencyTellsOfEveryBlockAfterTheWarmUp(t *testing.T) {
	figures := run(t, watched(t, 12), "latency", "--blocks", "10", "--warm-up", "2")
	if got := figures["produced to visible p50"]; got.N != 10 || got.Value <= 0 {
		t.Errorf("%+v", got)
	}
	if got := figures["making a block max"]; got.Value != 1 {
		t.Errorf("making a block: %+v, want 1 ms", got)
	}
	if p50, p99 := figures["produced to visible p50"].Value, figures["produced to visible p99"].Value; p50 > p99 {
		t.Errorf("p50 is %v, p99 %v", p50, p99)
	}
	if got := figures["traffic"].N; got != 50 {
		t.Errorf("%d transactions, want 50", got)
	}
}

func TestLatencyFailsWhenTheDevnetEnds(t *testing.T) {
	command := Command(watched(t, 3))
	command.SetArgs([]string{"latency", "--blocks", "10", "--warm-up", "0"})
	command.SetContext(t.Context())
	command.SilenceUsage = true
	if err := command.Execute(); err == nil || !strings.Contains(err.Error(), "the devnet ended") {
		t.Errorf("error %v", err)
	}
}

func TestRanksAreOfTheNearestValueAbove(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		sorted []time.Duration
		part   float64
		want   time.Duration
	}{{hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100}, {hundred[:1], 0.5, 1}, {hundred[:3], 0.99, 3}} {
		if got := rank(c.sorted, c.part); got != c.want {
			t.Errorf("rank %v of %d values is %d, want %d", c.part, len(c.sorted), got, c.want)
		}
	}
}

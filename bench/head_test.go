package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/devnet"
	"tonscribe/test/support/enginetest"
)

func TestHeadCountsWhatProcessesUseAndBundlesThatTheNextOneOvertook(t *testing.T) {
	server := enginetest.ClickHouse(t)
	const warm, blocks, lag = 2, 10, 3
	const used = 20 * time.Millisecond // of processor, for each bundle
	var seqno atomic.Int64             // of the block that was produced last
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"last":{"seqno":%d}}`, seqno.Load()-lag)
	}))
	t.Cleanup(api.Close)
	d := Dependencies{Live: func(ctx context.Context, _ *cobra.Command, _ int, watch func(context.Context, Live) error) error {
		produced := make(chan devnet.Produced)
		go func() {
			for n := 1; n <= warm+blocks; n++ {
				for began := processorOf(os.Getpid()); processorOf(os.Getpid())-began < used; {
				}
				seqno.Store(int64(n))
				produced <- devnet.Produced{Seqno: uint32(n), At: time.Now(), Transactions: 7}
			}
		}()
		return watch(ctx, Live{Running: Running{DSN: server.DSN(), EnginePID: server.Pid()}, API: api.URL, Produced: produced})
	}}
	figures := run(t, d, "head", "--blocks", fmt.Sprint(blocks), "--warm-up", fmt.Sprint(warm))
	for name, want := range map[string]float64{
		"transactions": 7, "bundles behind the chain at most": lag - 1, "bundles that the next one overtook": blocks, "rows rewritten by merges": 0,
	} {
		if got := figures[name]; got.Value != want || got.N != blocks {
			t.Errorf("%s: %+v, want %v of %d", name, got, want, blocks)
		}
	}
	// The first bundle that is counted may be in work before its beginning is read.
	const want = used * (blocks - 1) / blocks
	if got := figures["processor of all processes"].Value; got < float64(want.Milliseconds()) {
		t.Errorf("%v ms of processor for each bundle, want at least %s", got, want)
	}
}

func TestProcessorTimeIsThatOfChildrenToo(t *testing.T) {
	child := enginetest.ClickHouse(t).Pid()
	if all, one := processorOf(os.Getpid()), processorOf(child); one <= 0 || all < one {
		t.Errorf("this process and its children used %s, one of the children %s", all, one)
	}
}

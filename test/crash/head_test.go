package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tonscribe/test/support/harness"
)

// headWatch asks for the newest masterchain block again and again.
type headWatch struct {
	t       *testing.T
	base    string
	stop    chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	newest  int
	answers int
}

// watchHead fails the test when a block that was shown is not shown any more. Errors
// are none: what is asked may be away.
func watchHead(t *testing.T, base string) *headWatch {
	t.Helper()
	w := &headWatch{t: t, base: base, stop: make(chan struct{})}
	w.running.Go(func() {
		for {
			select {
			case <-w.stop:
				return
			case <-time.After(5 * time.Millisecond):
				w.look()
			}
		}
	})
	t.Cleanup(w.end)
	return w
}

func (w *headWatch) look() {
	seqno, ok := shown(w.base)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers++
	if seqno < w.newest {
		w.t.Errorf("%s shows masterchain block %d, it has shown %d", w.base, seqno, w.newest)
	}
	w.newest = max(w.newest, seqno)
}

// end stops looking.
func (w *headWatch) end() {
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	w.running.Wait()
}

// seen is the newest block so far, and how many answers there were.
func (w *headWatch) seen() (newest, answers int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newest, w.answers
}

// shown is the newest masterchain block that a server shows, if it shows one.
func shown(base string) (seqno int, ok bool) {
	status, body, err := harness.Get(base + "/api/v3/masterchainInfo")
	if err != nil || status != 200 {
		return 0, false
	}
	n, err := fmt.Sscanf(string(body), `{"last":{"workchain":-1,"shard":"8000000000000000","seqno":%d,`, &seqno)
	return seqno, n == 1 && err == nil
}

// A chain goes on while the process that follows it, or its ClickHouse, is killed. The
// newest bundles are in the log alone then.
func TestKillsAtTheHeadLoseNothingAndNobodySeesTheChainGoBack(t *testing.T) {
	network := t.TempDir()
	produce := func() *harness.Process {
		return harness.Start(t, nil, "devnet", "--data", network, "--interval", "300ms", "--seed", "5")
	}
	chain := produce()
	config := filepath.Join(network, "devnet", "global.config.json")
	harness.Await(t, time.Minute, func() bool {
		_, err := os.Stat(config)
		return err == nil
	}, chain.Output)

	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	arguments := []string{"up", "--network", "devnet", "--data", data, "--listen", listen, "--source", "liteserver:" + config, "--from", "1"}
	p := harness.Start(t, nil, arguments...)
	p.AwaitReady(base, time.Minute)
	w := watchHead(t, base)
	random := seeded()
	ahead := 0 // rounds in which the API was ahead of the tables
	for i := range 2 * rounds() {
		from, answers := w.seen()
		pauseBeforeKill(random)
		harness.Await(t, time.Minute, func() bool {
			newest, n := w.seen()
			return newest > from+2 && n > answers
		}, p.Output)
		if newest, _ := w.seen(); uint32(newest) > harness.Watermark(t, harness.ReadRunFile(t, data).ClickHouse) {
			ahead++
		}
		if i%2 == 0 {
			killChildren(t, p.PID())
			continue
		}
		p.Kill()
		p = harness.Start(t, nil, arguments...)
	}
	if ahead < (rounds()+1)/2 {
		t.Errorf("the API was ahead of the tables in %d of %d rounds: the test proves little", ahead, 2*rounds())
	}
	p.AwaitReady(base, time.Minute)
	chain.Stop()
	var last int
	for newest := -1; newest != last; {
		newest = last
		time.Sleep(5 * time.Second)
		last, _ = w.seen()
	}
	dsn := harness.ReadRunFile(t, data).ClickHouse
	harness.AwaitTables(t, dsn, uint32(last))
	got := harness.Fingerprint(t, dsn)
	w.end()
	p.Stop()

	produce()
	data, listen = t.TempDir(), harness.FreeAddress(t)
	p = harness.Start(t, nil, "up", "--network", "devnet", "--data", data, "--listen", listen, "--source", "liteserver:"+config, "--from", "1", "--to", fmt.Sprint(last), "--serve")
	p.AwaitReady("http://"+listen, time.Minute)
	same(t, "after kills at the head", got, harness.Fingerprint(t, harness.ReadRunFile(t, data).ClickHouse))
}

package query

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tonscribe/internal/engine"
	"tonscribe/internal/report"
	"tonscribe/schema/migrations"
	"tonscribe/test/support/clienttest"
)

// The newest rows are there as soon as the watermark covers them and not
// before, with budgets that hold everything, little, or nothing. Every third time
// the lists are read to their end.
func TestTheHeadFollowsTheWatermark(t *testing.T) {
	t.Parallel()
	w := realWorld(t)
	w.setWatermark(t, w.bundles[4])
	var servers []*server
	for _, bytes := range []int{64 << 20, 300_000, 0} {
		servers = append(servers, w.serve(t, func(c *Configuration) {
			c.Store.Head.TransactionBytes, c.Store.Head.BlockBytes = bytes, bytes
		}))
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i, round := 4, 0; i < len(w.bundles); i, round = i+1+random.IntN(7), round+1 {
		check := check
		if round%3 > 0 {
			check = func(t *testing.T, s *server, path string, q *request, want []string, random *rand.Rand) {
				t.Helper()
				checkPage(t, s, path, q, want, random)
			}
		}
		w.setWatermark(t, w.bundles[i])
		transactions, blocks := w.transactionRows(), w.blockRows()
		for _, s := range servers {
			s.await(w.watermark)
			for _, q := range []*request{newRequest(), newRequest().where("workchain", "0", func(r row) bool {
				return r.tx != nil && r.tx.Block.Workchain == 0 || r.block != nil && r.block.Id.Workchain == 0
			})} {
				check(t, s, "transactions", q, q.transactionsOf(transactions), random)
				check(t, s, "blocks", q, q.blocksOf(blocks), random)
			}
			s.checkInfo(t, w, w.bundles[i].Seqno)
		}
	}
	if n := servers[0].counter(t, "tonscribe_query_head_answers_total"); n == 0 {
		t.Error("nothing was answered from memory: the test proves nothing")
	}
	if n := servers[2].counter(t, "tonscribe_query_head_answers_total"); n != 0 {
		t.Errorf("%v answers from a memory that holds nothing", n)
	}
}

func TestAWokenFollowerDoesNotWaitForTheNextPoll(t *testing.T) {
	t.Parallel()
	w := realWorld(t)
	w.setWatermark(t, w.bundles[4])
	wake := make(chan struct{}, 1)
	s := w.serve(t, func(c *Configuration) { c.Store.Poll, c.Store.Wake = 24*time.Hour, wake })
	s.await(w.watermark)
	w.setWatermark(t, w.bundles[6])
	wake <- struct{}{}
	s.await(w.watermark)
}

func (s *server) checkInfo(t *testing.T, w *world, last uint32) {
	t.Helper()
	var info struct {
		First, Last struct {
			Workchain int32
			Seqno     uint32
		}
	}
	got := s.ask("/api/v3/masterchainInfo")
	if err := json.Unmarshal(got.Body.Bytes(), &info); err != nil {
		t.Fatal(err)
	}
	if info.Last.Seqno != last || info.First.Seqno != w.bundles[0].Seqno || info.Last.Workchain != -1 || info.First.Workchain != -1 {
		t.Errorf("masterchainInfo %+v, want %d to %d", info, w.bundles[0].Seqno, last)
	}
}

// counter is the sum of a counter or a gauge.
func (s *server) counter(t *testing.T, name string) (sum float64) {
	t.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.Metric {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// The state is the newest block of every shard, as the masterchain block itself
// names them, over a split of the first shard. Where bundles were skipped, their
// blocks are left out, and no older ones stand in for them.
func TestShardStateIsWhatTheMasterchainSays(t *testing.T) {
	t.Parallel()
	for name, skipped := range map[string]func(n int) bool{
		"whole": func(int) bool { return false },
		"one":   func(n int) bool { return n == 17 },
		"many":  func(n int) bool { return n%5 == 2 || n > 30 && n < 44 },
	} {
		if name == "one" && !long() { // many have what it has
			continue
		}
		t.Run(name, func(t *testing.T) { checkShardStates(t, skipped) })
	}
}

func checkShardStates(t *testing.T, skipped func(n int) bool) {
	bundles, states := genesis(t)
	bundles = without(bundles, skipped)
	there := map[string]bool{}
	for _, b := range bundles {
		for _, block := range b.Blocks {
			there[row{block: block}.String()] = true
		}
	}
	for seqno := range states {
		states[seqno] = slices.DeleteFunc(states[seqno], func(block string) bool { return !there[block] })
	}
	w := newWorld(t, bundles)
	for _, bytes := range []int{0, 64 << 20} {
		s := w.serve(t, func(c *Configuration) { c.Store.Head.BlockBytes, c.Store.Head.TransactionBytes = bytes, bytes })
		for _, b := range bundles {
			got := s.get(fmt.Sprintf("/api/v3/masterchainBlockShardState?seqno=%d", b.Seqno)).rows()[len(b.Transactions):]
			slices.Sort(got)
			if want := states[b.Seqno]; !slices.Equal(got, want) {
				t.Fatalf("bundle %d: got %v, want %v", b.Seqno, got, want)
			}
		}
		w.checkLtRanges(t, s)
	}
}

// checkLtRanges checks ranges of lt on a real chain, in the order of time and in
// that of lt.
func (w *world) checkLtRanges(t *testing.T, s *server) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	rows := w.blockRows()
	for range rounds * 3 {
		q := newRequest()
		q.sort(random)
		q.span(random, "start_lt", "end_lt", pick(random, rows).lt, pick(random, rows).lt, lt)
		if q.sorted {
			check(t, s, "blocks", q, q.blocksOf(rows), random)
			continue
		}
		q.query.Set("limit", "1000")
		got, want := s.get("/api/v3/blocks?"+q.query.Encode()).rows(), q.blocksOf(rows)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("blocks %s: got %d, want %d", q.query.Encode(), len(got), len(want))
		}
	}
}

func TestAQueryThatTakesTooLongIsRefusedWithAHint(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	s := w.serve(t, nil)
	refused := 0
	for range 50 {
		r := httptest.NewRequest(http.MethodGet, "/api/v3/messages?limit=1000&x_timeout=9000", nil)
		r.Header.Set("X-Timeout", "1")
		got := s.send(r)
		switch {
		case got.Code == 422:
			refused++
			s.isError(t, "slow", got, "the query is too heavy: narrow the filters or the range of time or lt, name fewer values, lower limit, or page with cursor")
		case got.Code != 200:
			t.Fatalf("%d %s", got.Code, got.Body)
		}
		if list := s.get("/api/v3/messages?limit=3").Messages; len(list) != 3 {
			t.Fatalf("after a refusal: %d messages", len(list))
		}
	}
	if refused == 0 {
		t.Error("a millisecond was enough every time: the test proves nothing")
	}
}

// An engine that dies is an error without an internal text, and one that comes
// back is used again.
func TestTheDatabaseMayGoAndComeBack(t *testing.T) {
	t.Parallel()
	e, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: t.TempDir(), MaxMemory: 1 << 30, Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Stop(t.Context())
	if err := migrations.Up(t.Context(), e.DSN(), migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	w := &world{bundles: realBundles(t)[:4], tables: clienttest.ClickHouse(t, e.DSN()), reader: clienttest.ClickHouse(t, e.ReadOnlyDSN())}
	w.sink(t)
	s := w.serve(t, func(c *Configuration) {
		c.Store.Head.BlockBytes, c.Store.Head.TransactionBytes, c.Timeout = 0, 0, 2*time.Second
	})
	const path = "/api/v3/transactions?limit=3"
	if got := s.ask(path); got.Code != 200 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	if err := syscall.Kill(e.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for got := s.ask(path); got.Code != 200; got = s.ask(path) {
		text := strings.ToLower(got.Body.String())
		for _, internal := range []string{"127.0.0.1", "dial", "tcp", "clickhouse", "eof", "select"} {
			if strings.Contains(text, internal) {
				t.Fatalf("the answer shows %q: %s", internal, text)
			}
		}
		if t.Context().Err() != nil {
			t.Fatal("the API did not recover")
		}
	}
	s.checkInfo(t, w, w.watermark)
}

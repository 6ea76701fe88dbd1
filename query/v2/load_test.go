package v2

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"tonscribe/test/support/litetest"
	own "tonscribe/ton/address"
)

// The load of a minute.
const (
	loadConnections = 200
	loadBlocks      = 40
	loadFor         = time.Minute
	loadKill        = 10 * time.Second // one server ends
	loadStall       = 20 * time.Second // one more is silent
	loadLie         = 30 * time.Second // one more lies
)

// question is a request whose answer is known.
type question struct {
	method, target, body string
	want                 string
}

// load is many clients at once.
type load struct {
	t      *testing.T
	base   string
	client *http.Client
	list   []question
	began  time.Time

	mu       sync.Mutex
	times    map[string][]time.Duration // by what was asked, and when
	statuses map[int]int
}

// Run it alone: it says how fast the layer is, too. The lite servers answer from
// memory, so that the cores are left to the layer, its proofs and the clients.
//
//	TONSCRIBE_TEST_LONG=1 go test -count=1 -v -run FullSpeed ./query/v2
func TestFullSpeedWithBadServers(t *testing.T) {
	if os.Getenv("TONSCRIBE_TEST_LONG") == "" {
		t.Skip("TONSCRIBE_TEST_LONG is not set: a minute of full speed")
	}
	d := litetest.NewDevnet(t, 5, loadBlocks)
	l := &load{t: t, list: questions(d), times: map[string][]time.Duration{}, statuses: map[int]int{}}

	memo := litetest.Memo(d.Handle)
	l.warm(t, newService(t, poolOn(t, d, litetest.Listen(t, memo))))
	liar, stalled, doomed := litetest.NewFaulty(memo), litetest.NewFaulty(memo), litetest.Listen(t, memo)
	s := newService(t, poolOn(t, d, litetest.Listen(t, memo), litetest.Listen(t, memo), litetest.Listen(t, liar.Handle), litetest.Listen(t, stalled.Handle), doomed))
	server := httptest.NewServer(s.router)
	defer server.Close()
	l.base = server.URL
	l.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: loadConnections, MaxConnsPerHost: loadConnections}}
	defer l.client.CloseIdleConnections()

	ctx, cancel := context.WithTimeout(t.Context(), loadFor)
	defer cancel()
	l.began = time.Now()
	var group sync.WaitGroup
	for i := range loadConnections {
		group.Go(func() { l.ask(ctx, rand.New(rand.NewPCG(6, uint64(i)))) })
	}
	for _, fault := range []struct {
		at time.Duration
		do func()
	}{
		{loadKill, doomed.Stop},
		{loadStall, func() {
			stalled.Break(func(context.Context, litetest.Request, litetest.Handler) any { return nil })
		}},
		{loadLie, func() {
			liar.Break(func(ctx context.Context, r litetest.Request, _ litetest.Handler) any { return lies(ctx, r, d.Handle) })
		}},
	} {
		select {
		case <-time.After(time.Until(l.began.Add(fault.at))):
			fault.do()
		case <-ctx.Done():
		}
	}
	group.Wait()
	l.tell()
	if liar.Count() == 0 || stalled.Count() == 0 {
		t.Errorf("%d lies, %d requests to the silent server: the test proves nothing", liar.Count(), stalled.Count())
	}
}

// questions are some thousands about accounts, blocks and get-methods at fixed
// blocks, so that each has one answer for ever.
func questions(d *litetest.Devnet) []question {
	var list []question
	seen := map[own.Address]bool{}
	for _, bundle := range d.Bundles {
		for _, b := range bundle.Shards {
			for i := range b.Transactions {
				account := own.New(0, b.Transactions[i].Account[:])
				if seen[account] {
					continue
				}
				seen[account] = true
				for seqno := bundle.Master.ID.SeqNo; seqno <= loadBlocks; seqno += 4 {
					at := fmt.Sprintf("?address=%s&seqno=%d", account.String(), seqno)
					list = append(list,
						question{method: http.MethodGet, target: "/getAddressInformation" + at},
						question{method: http.MethodGet, target: "/getWalletInformation" + at},
						question{method: http.MethodPost, target: "/runGetMethodStd", body: fmt.Sprintf(`{"address":"%s","method":"seqno","stack":[],"seqno":%d}`, account.String(), seqno)},
					)
				}
				list = append(list, question{method: http.MethodGet, target: "/getTransactionsStd?limit=5&address=" + account.String()})
			}
			list = append(list, question{method: http.MethodGet, target: "/getBlockTransactions?" + blockQuery(b.ID)}, question{method: http.MethodGet, target: "/getBlockHeader?" + blockQuery(b.ID)})
		}
	}
	return list
}

// warm asks every question once, where all servers are honest.
func (l *load) warm(t *testing.T, honest *service) {
	t.Helper()
	for i := range l.list {
		q := &l.list[i]
		r := honest.send(q.method, Prefix+q.target, q.body)
		if r.status != http.StatusOK {
			t.Fatalf("%s: %d %s", q.target, r.status, r.text)
		}
		q.want = resultText(t, r)
	}
}

// hot are questions that everybody asks.
const hot = 20

// ask is one client: half of what it asks is hot.
func (l *load) ask(ctx context.Context, chance *rand.Rand) {
	for ctx.Err() == nil {
		q := &l.list[chance.IntN(len(l.list))]
		if chance.IntN(2) == 0 {
			q = &l.list[chance.IntN(hot)]
		}
		began := time.Now()
		status, text, err := l.send(q)
		if err != nil {
			l.t.Errorf("%s: %v", q.target, err)
			return
		}
		took := time.Since(began)
		var answer struct {
			Result json.RawMessage
			Extra  string `json:"@extra"`
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			l.t.Errorf("%s: %v in %.300s", q.target, err, text)
			return
		}
		switch status {
		case http.StatusOK:
			var value any
			_ = json.Unmarshal(answer.Result, &value)
			if got, _ := json.Marshal(value); string(got) != q.want {
				l.t.Errorf("%s %s: %.300s, want %.300s", q.target, q.body, got, q.want)
			}
		case http.StatusGatewayTimeout:
		default:
			l.t.Errorf("%s %s: %d %.300s", q.target, q.body, status, text)
		}
		l.observe(began, took, status, strings.HasSuffix(answer.Extra, ":c"), strings.TrimPrefix(strings.Split(q.target, "?")[0], "/"))
	}
}

func (l *load) send(q *question) (int, []byte, error) {
	request, err := http.NewRequestWithContext(l.t.Context(), q.method, l.base+Prefix+q.target, bytes.NewReader([]byte(q.body)))
	if err != nil {
		return 0, nil, err
	}
	response, err := l.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

// phases of the minute.
var phases = []struct {
	at   time.Duration
	name string
}{{0, "1 all well"}, {loadKill, "2 one dead"}, {loadStall, "3 … one silent"}, {loadLie, "4 … one lies"}}

// phaseLength is how long the phase is whose figures have a name.
func phaseLength(name string) time.Duration {
	end := loadFor
	for _, p := range slices.Backward(phases) {
		if strings.HasPrefix(name, p.name) {
			return end - p.at
		}
		end = p.at
	}
	return end
}

func (l *load) observe(began time.Time, took time.Duration, status int, cached bool, method string) {
	phase := ""
	for _, p := range phases {
		if began.Sub(l.began) >= p.at {
			phase = p.name
		}
	}
	kind := "not cached"
	if cached {
		kind, method = "cached", "all"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statuses[status]++
	for _, name := range []string{phase + "\t" + kind + "\t" + method, phase + "\t" + kind + "\tall"} {
		l.times[name] = append(l.times[name], took)
		if method == "all" {
			break
		}
	}
}

// tell prints the figures.
func (l *load) tell() {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "phase\tkind\tmethod\tanswers\ta second\tp50\tp99\tmax\t\n")
	names := make([]string, 0, len(l.times))
	for name := range l.times {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		list := l.times[name]
		slices.Sort(list)
		at := func(part float64) time.Duration {
			return list[int(part*float64(len(list)-1))].Round(100 * time.Microsecond)
		}
		rate := float64(len(list)) / phaseLength(name).Seconds()
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%s\t%s\t%s\t\n", name, len(list), rate, at(0.5), at(0.99), at(1))
	}
	_ = w.Flush()
	l.t.Logf("%d questions, statuses %v\n%s", len(l.list), l.statuses, out.String())
}

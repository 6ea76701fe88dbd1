package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/bench/synthetic"
)

type queryOptions struct {
	base, key, keys, only string
	requests, rounds      int
	limit                 time.Duration
}

func queryCommand(d Dependencies) *cobra.Command {
	var o queryOptions
	cmd := &cobra.Command{
		Use:   "query",
		Short: "Ask every endpoint of a v3 server, with one client and with four",
		Long: `Ask every endpoint of a v3 server, with one client and with four.

The keys are those that 'tonscribe bench fill' wrote into the data folder, or into
--keys FILE, while it filled the tables; no key is asked twice as long as there are enough. Each line is the
median of its rounds. Lists with fewer rows than are known to be there and answers
other than 200 are counted as failures. Where the reference index server was asked
the same of as many rows, its better figures are beside ours.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.requests < 1 {
				return errors.New("--requests must be at least 1")
			}
			var err error
			if o.keys, err = d.keysFile(cmd, o.keys); err != nil {
				return err
			}
			keys, err := synthetic.ReadKeys(o.keys)
			if errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("%s is not there: 'tonscribe bench fill' writes it while it fills the tables of --data; --keys FILE names another one", o.keys)
			}
			if err != nil {
				return fmt.Errorf("keys: %w", err)
			}
			if len(keys.Mc) == 0 || len(keys.Tx) == 0 {
				return fmt.Errorf("keys: %s has none", o.keys)
			}
			if o.key == "" {
				if o.key, err = d.Key(cmd); err != nil {
					return err
				}
			}
			return runQueries(cmd.Context(), outputOf(cmd), o, keys)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.base, "base", "http://127.0.0.1:8081/api/v3", "where the v3 paths begin")
	f.StringVar(&o.key, "key", "", "API key, without limits (default: that in --data)")
	f.StringVar(&o.keys, "keys", "", "`FILE` of bench fill (default "+keysName+" in --data)")
	f.StringVar(&o.only, "only", "", "`REGEXP` of the lines to run")
	f.IntVar(&o.requests, "requests", 200, "requests a round")
	f.IntVar(&o.rounds, "rounds", 3, "rounds")
	f.DurationVar(&o.limit, "limit", 6*time.Second, "longest round")
	return cmd
}

// warmUp requests open the connections before a line is measured.
const warmUp = 10

var clientCounts = []int{1, 4}

func runQueries(ctx context.Context, out *output, o queryOptions, keys *synthetic.Keys) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	asker := &asker{base: o.base, key: o.key, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true}, Timeout: time.Minute,
	}}
	ring := newKeyring(keys)
	if err := asker.findHead(ctx, ring); err != nil {
		return err
	}
	out.note("%d requests a round, %d rounds of at most %s, %d cores", o.requests, o.rounds, o.limit, runtime.GOMAXPROCS(0))
	out.head("query", "p50 ms", "p99 ms", "reference at 2 M: p50, p99", "q/s", "p50 ms, 4 clients", "p99 ms, 4 clients", "q/s, 4 clients", "bytes", "failures")
	for _, q := range queries(keys) {
		if !only.MatchString(q.name) {
			continue
		}
		line, err := asker.line(ctx, q, ring, o)
		if err != nil {
			return err
		}
		line.print(out)
	}
	if ring.repeated {
		out.note("\nThere were fewer keys than requests: some were asked more than once.")
	}
	return out.err
}

// asker sends requests to one server.
type asker struct {
	base, key string
	client    *http.Client
}

// answer is what came back.
type answer struct {
	status int
	body   []byte
	cursor string // of the next page
}

func (a *asker) get(ctx context.Context, path string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path, nil)
	if err != nil {
		return answer{}, err
	}
	if a.key != "" {
		request.Header.Set("X-API-Key", a.key)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	cursor := response.Header.Get("X-Next-Cursor")
	if _, after, found := bytes.Cut(body, []byte(`"next_cursor":"`)); found {
		text, _, _ := bytes.Cut(after, []byte(`"`))
		cursor = string(text)
	}
	return answer{response.StatusCode, body, cursor}, err
}

// findHead asks where the chain ends, for queries by time and logical time.
func (a *asker) findHead(ctx context.Context, k *keyring) error {
	got, err := a.get(ctx, "/masterchainInfo")
	if err != nil {
		return err
	}
	var info struct {
		Last struct {
			GenUtime string `json:"gen_utime"`
			EndLT    string `json:"end_lt"`
		} `json:"last"`
	}
	if got.status != http.StatusOK {
		return fmt.Errorf("%s/masterchainInfo: status %d: %.200s", a.base, got.status, got.body)
	}
	if err := json.Unmarshal(got.body, &info); err != nil {
		return fmt.Errorf("%s/masterchainInfo: %w", a.base, err)
	}
	utime, _ := strconv.ParseUint(info.Last.GenUtime, 10, 32)
	k.utime = uint32(utime)
	if k.lt, err = strconv.ParseUint(info.Last.EndLT, 10, 64); err != nil {
		return fmt.Errorf("%s/masterchainInfo: end_lt: %w", a.base, err)
	}
	return nil
}

// line is what was measured of a query.
type line struct {
	name     string
	clients  [][3]float64 // by clientCounts: p50 and p99 in ms, requests/s
	requests []int
	bytes    int
	answers  int
	failures int
	reason   string
}

func (a *asker) line(ctx context.Context, q query, k *keyring, o queryOptions) (*line, error) {
	l := &line{name: q.name}
	for range warmUp {
		path := q.path(k)
		got, err := a.get(ctx, path)
		if err != nil {
			return nil, err
		}
		k.advance(path, got.cursor)
	}
	for _, clients := range clientCounts {
		var rounds [][3]float64
		asked := 0
		for range max(1, o.rounds) {
			took, elapsed := a.round(ctx, q, k, clients, o, l)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			sort.Float64s(took)
			n := len(took)
			rounds = append(rounds, [3]float64{took[n/2], took[min(n-1, n*99/100)], float64(n) / elapsed.Seconds()})
			asked += n
		}
		l.clients = append(l.clients, medians(rounds))
		l.requests = append(l.requests, asked)
	}
	return l, nil
}

// round sends requests from so many clients, each one after the other, and
// returns what each took in milliseconds.
func (a *asker) round(ctx context.Context, q query, k *keyring, clients int, o queryOptions, l *line) ([]float64, time.Duration) {
	var mu sync.Mutex // guards everything that clients share
	var took []float64
	var wg sync.WaitGroup
	began, asked := time.Now(), 0
	for range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				mu.Lock()
				if asked >= o.requests || (asked > 0 && time.Since(began) > o.limit) {
					mu.Unlock()
					return
				}
				asked++
				path := q.path(k)
				mu.Unlock()
				sent := time.Now()
				got, err := a.get(ctx, path)
				ms := float64(time.Since(sent).Microseconds()) / 1000
				mu.Lock()
				took = append(took, ms)
				l.answered(q, path, got, err)
				k.advance(path, got.cursor)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return took, time.Since(began)
}

func (l *line) answered(q query, path string, got answer, err error) {
	l.answers++
	l.bytes += len(got.body)
	var reason string
	switch {
	case err != nil:
		reason = err.Error()
	case got.status != http.StatusOK:
		reason = fmt.Sprintf("%d %.80s", got.status, got.body)
	case q.list != "":
		if n := rowsIn(got.body, q.list); n < q.rows {
			reason = fmt.Sprintf("%d rows instead of %d: %.200s", n, q.rows, path)
		}
	}
	if reason == "" {
		return
	}
	l.failures++
	l.reason = cmp.Or(l.reason, reason)
}

func medians(rounds [][3]float64) (out [3]float64) {
	for i := range out {
		values := make([]float64, len(rounds))
		for j, r := range rounds {
			values[j] = r[i]
		}
		sort.Float64s(values)
		out[i] = values[len(values)/2]
	}
	return out
}

func (l *line) print(out *output) {
	cells, figures := []string{l.name}, []figure(nil)
	for i, clients := range clientCounts {
		v, suffix := l.clients[i], ""
		if clients > 1 {
			suffix = fmt.Sprintf(", %d clients", clients)
		}
		cells = append(cells, number(v[0]), number(v[1]))
		if clients == 1 {
			cells = append(cells, referenceOf(l.name))
		}
		cells = append(cells, number(v[2]))
		figures = append(figures,
			figure{l.name + " p50" + suffix, v[0], "ms", l.requests[i]},
			figure{l.name + " p99" + suffix, v[1], "ms", l.requests[i]},
			figure{l.name + " rate" + suffix, v[2], "requests/s", l.requests[i]})
	}
	figures = append(figures, figure{l.name + " size", float64(l.bytes) / float64(l.answers), "bytes", l.answers},
		figure{l.name + " failures", float64(l.failures), "requests", l.answers})
	failures := ""
	if l.failures > 0 {
		failures = fmt.Sprintf("%d of %d: %s", l.failures, l.answers, l.reason)
	}
	out.row(append(cells, grouped(int64(l.bytes/l.answers)), failures), figures...)
}

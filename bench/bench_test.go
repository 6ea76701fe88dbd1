package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/bench/synthetic"
	"tonscribe/decode/detect"
	"tonscribe/decode/traces"
	"tonscribe/decode/worker"
	"tonscribe/ingest"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/sink"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/realdata"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// run executes `bench …` and returns its figures by name.
func run(t *testing.T, d Dependencies, args ...string) map[string]figure {
	t.Helper()
	var out bytes.Buffer
	command := Command(d)
	command.SetArgs(append(args, "--json"))
	command.SetOut(&out)
	command.SetContext(t.Context())
	if err := command.Execute(); err != nil {
		t.Fatal(err)
	}
	figures := map[string]figure{}
	for decoder := json.NewDecoder(&out); decoder.More(); {
		var f figure
		if err := decoder.Decode(&f); err != nil {
			t.Fatal(err)
		}
		if f.Name == "" || f.Unit == "" || f.N == 0 {
			t.Errorf("incomplete figure %+v", f)
		}
		figures[f.Name] = f
	}
	return figures
}

// engines are those of the test, with a sink that runs.
func engines(t *testing.T) Running {
	t.Helper()
	server, log := enginetest.Tables(t), enginetest.Kafka(t)
	client := clienttest.Kafka(t, log, 2, schema.Topics...)
	s, err := sink.New(sink.DefaultConfiguration(), sink.Dependencies{Report: report.Silent(), Kafka: client, ClickHouse: clienttest.ClickHouse(t, server.DSN())})
	check(t, err)
	lifetimetest.Run(t, s)
	return Running{Log: client, DSN: server.DSN(), EnginePID: server.Pid()}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func withSink(t *testing.T) Dependencies {
	return Dependencies{Fill: func(ctx context.Context, _ *cobra.Command, feed func(context.Context, Running) error) error {
		return feed(ctx, engines(t))
	}}
}

// withPipeline runs all stages up to the tables.
func withPipeline(t *testing.T) Dependencies {
	return Dependencies{Index: func(ctx context.Context, _ *cobra.Command, source string, from, to uint32, started, visible func(context.Context, Running) error) error {
		running := engines(t)
		w, err := worker.New(worker.DefaultConfiguration(), worker.Dependencies{Report: report.Silent(), Kafka: running.Log})
		check(t, err)
		facts := detect.DefaultConfiguration()
		facts.Dir = t.TempDir()
		f, err := detect.New(facts, detect.Dependencies{Report: report.Silent(), Kafka: running.Log})
		check(t, err)
		whole := traces.DefaultConfiguration()
		whole.Dir = t.TempDir()
		assembled, err := traces.New(whole, traces.Dependencies{Report: report.Silent(), Kafka: running.Log})
		check(t, err)
		configuration := ingest.DefaultConfiguration()
		configuration.Source, configuration.From, configuration.To = source, from, to
		in, err := ingest.New(configuration, ingest.Dependencies{Report: report.Silent(), Log: running.Log})
		check(t, err)
		if err := started(ctx, running); err != nil {
			return err
		}
		lifetimetest.Run(t, assembled)
		lifetimetest.Run(t, f)
		lifetimetest.Run(t, w)
		lifetimetest.Run(t, in)
		look, err := openTables(running.DSN)
		check(t, err)
		defer look.Close()
		for {
			if w, err := clickhouse.ReadWatermark(ctx, look.Conn()); err == nil && w.MCSeqno >= to {
				return visible(ctx, running)
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}}
}

func TestFillPutsEveryRowIntoTheTables(t *testing.T) {
	const n = 20_000
	keys := filepath.Join(t.TempDir(), "keys.json")
	figures := run(t, withSink(t), "fill", "--transactions", strconv.Itoa(n), "--keys", keys, "--ahead", "5000", "--settle", "1s")
	if f := figures["fill"]; f.N != n || f.Value <= 0 {
		t.Errorf("filled %+v", f)
	}
	if figures["disk all tables"].Value <= 0 || figures["peak memory of ClickHouse"].Value <= 0 {
		t.Errorf("sizes are missing: %v", figures)
	}
	read, err := synthetic.ReadKeys(keys)
	if err != nil || read.N != n || len(read.Sale) == 0 {
		t.Errorf("keys: %v", err)
	}
	for table, rows := range map[string]int{
		"accounts": read.Accounts, "jetton_wallets": n/20 + n/40, "nft_items": read.Items, "nft_collections": 50, "jetton_masters": 201, "metadata": read.Items + 50,
		"jetton_transfers": n / 10, "jetton_burns": 10, "nft_transfers": n / 200, "contract_links": 20, "accounts_by_balance": read.Accounts,
	} {
		if f := figures["row "+table]; f.N < rows || f.Value <= 0 {
			t.Errorf("%s: %d rows of %.1f bytes, at least %d are known to be there", table, f.N, f.Value, rows)
		}
	}
}

// What was filled is skipped, and bundles follow it at the pace that is asked for; rows of
// other flags are refused.
func TestBundlesFollowWhatWasFilled(t *testing.T) {
	running := engines(t)
	look, err := openTables(running.DSN)
	check(t, err)
	t.Cleanup(func() { look.Close() })
	filled, followed := uint32(0), uint32(0)
	d := Dependencies{
		Fill: func(ctx context.Context, _ *cobra.Command, feed func(context.Context, Running) error) error {
			return feed(ctx, running)
		},
		Follow: func(ctx context.Context, _ *cobra.Command, feed func(context.Context, Running, string) error) error {
			before, err := clickhouse.ReadWatermark(ctx, look.Conn())
			check(t, err)
			filled = before.MCSeqno
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			go func() {
				for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
					if w, err := clickhouse.ReadWatermark(ctx, look.Conn()); err == nil && w.MCSeqno >= filled+3 {
						followed = w.MCSeqno
						cancel()
					}
				}
			}()
			return feed(ctx, running, "http://127.0.0.1:0")
		},
	}
	keys := filepath.Join(t.TempDir(), "keys.json")
	run(t, d, "fill", "--transactions", "4000", "--keys", keys, "--settle", "1s")
	refused := Command(d)
	refused.SetArgs([]string{"fill", "--transactions", "3000", "--keys", keys, "--follow", "1"})
	refused.SetOut(io.Discard)
	refused.SetErr(io.Discard)
	refused.SetContext(t.Context())
	if err := refused.Execute(); err == nil || !strings.Contains(err.Error(), "give the flags that the tables were filled with") {
		t.Errorf("other rows than those that are there: %v", err)
	}
	run(t, d, "fill", "--transactions", "4000", "--keys", keys, "--follow", "1000")
	if followed < filled+3 {
		t.Errorf("bundle %d is there after %d", followed, filled)
	}
	var each float64
	check(t, look.Conn().QueryRow(t.Context(), "SELECT count() / uniqExact(mc_seqno) FROM transactions FINAL WHERE mc_seqno > ? AND mc_seqno <= ?", filled, followed).Scan(&each))
	if each < 300 || each > 500 {
		t.Errorf("%.0f transactions are in each bundle that followed, want 400, a quarter more or less", each)
	}
}

func TestRowsOfAnAnswerAreCounted(t *testing.T) {
	for _, c := range []struct {
		body, list string
		want       int
	}{
		{`{"accounts":[{"a":[1,2],"b":"],["},{}],"x":[]}`, "accounts", 2}, {`{"accounts":[]}`, "accounts", 0}, {`{"accounts": null}`, "accounts", -1},
		{`{"other":[1]}`, "accounts", -1}, {`[{"a":1},{"a":2},{"a":3}]`, "[", 3}, {`[ ]`, "[", 0}, {`{"0:A":{"x":[]},"0:B\"{":{}}`, "{", 2}, {`{}`, "{", 0},
		{`{"accounts":[1,2`, "accounts", -1}, {`{"error":"x"}`, "[", -1}, {`{"list":{"a":1,"b":2}}`, "list", 2},
	} {
		if got := rowsIn([]byte(c.body), c.list); got != c.want {
			t.Errorf("%s in %s: %d rows instead of %d", c.list, c.body, got, c.want)
		}
	}
}

func TestCursorsAreFollowedAndBeginAnewAtTheEnd(t *testing.T) {
	k := newKeyring(&synthetic.Keys{})
	var asked []string
	for _, cursor := range []string{"a", "b=", "", "b="} {
		path := k.follow("/list?limit=1", 7)
		asked = append(asked, path)
		k.advance(path, cursor)
	}
	want := []string{"/list?limit=1&offset=7", "/list?limit=1&cursor=a", "/list?limit=1&cursor=b%3D", "/list?limit=1&cursor=a"}
	if !slices.Equal(asked, want) || !k.repeated {
		t.Errorf("asked %v instead of %v", asked, want)
	}
}

func TestDecodeComparesBothDecodersOnTheSameBlocks(t *testing.T) {
	dir := realdata.Path(t, "blocks")
	figures := run(t, Dependencies{}, "decode", filepath.Join(dir, "mainnet_collator_57120586-57120589"), "--rounds", "1", "--round", "20ms")
	ours, theirs := figures["decode tonscribe"], figures["decode tonutils-go"]
	if ours.N < 103 || theirs.N < 103 || figures["decode ratio"].Value <= 0 {
		t.Errorf("%v", figures)
	}
}

func TestNumbersBelowOneAreRefused(t *testing.T) {
	for _, args := range [][]string{{"ingest", "--transactions", "-1"}, {"ingest", "--transactions", "0"}, {"query", "--requests", "0"}} {
		c := Command(Dependencies{})
		c.SetArgs(args)
		c.SilenceErrors, c.SilenceUsage = true, true
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := c.ExecuteContext(ctx); err == nil || !strings.Contains(err.Error(), args[1]+" must be at least 1") {
			t.Errorf("%v: %v", args, err)
		}
		cancel()
	}
}

func TestIngestIndexesTheGeneratedChain(t *testing.T) {
	for name, source := range map[string]string{"devnet": "", "fat blocks": "files:" + realdata.Path(t, "blocks")} {
		t.Run(name, func(t *testing.T) {
			figures := run(t, withPipeline(t), "ingest", "--source", source, "--transactions", "5000", "--settle", "1s")
			if f := figures["ingest"]; f.N < 5000 || f.Value <= 0 || figures["disk transactions"].Value <= 0 {
				t.Errorf("%v", figures)
			}
		})
	}
}

// server answers as a v3 server does, with one empty list among its answers.
func server(t *testing.T, seen map[string]int) *httptest.Server {
	asked := make(chan string, 1)
	asked <- ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-asked // one at a time
		defer func() { asked <- "" }()
		seen[r.URL.String()]++
		switch {
		case r.Header.Get("X-API-Key") != "secret":
			http.Error(w, "no key", http.StatusUnauthorized)
		case strings.HasSuffix(r.URL.Path, "/masterchainInfo"):
			w.Write([]byte(`{"last":{"seqno":30000100,"gen_utime":"1700000100","end_lt":"40000100000000"}}`))
		case strings.HasSuffix(r.URL.Path, "/adjacentTransactions"):
			w.Write([]byte(`{"transactions":[],"address_book":{}}`))
		case strings.HasSuffix(r.URL.Path, "/blocks"):
			w.Write([]byte(`{"blocks":[{},{},{}]}`))
		default:
			w.Write([]byte(`{"transactions":[{}],"messages":[{}],"blocks":[{}]}`))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestQueryAsksNoKeyTwiceAndCountsEmptyAnswers(t *testing.T) {
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 30_000, Seed: 1})
	for rows.Next() != nil {
	}
	keys := filepath.Join(t.TempDir(), "keys.json")
	if err := rows.Keys().WriteFile(keys); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	s := server(t, seen)
	figures := run(t, Dependencies{}, "query", "--base", s.URL+"/api/v3", "--key", "secret", "--keys", keys, "--requests", "20", "--rounds", "2")
	if got := figures["adjacentTransactions failures"]; got.Value != float64(got.N) {
		t.Errorf("empty answers are no failures: %+v", got)
	}
	if got := figures["blocks latest 20 failures"]; got.Value != float64(got.N) {
		t.Errorf("3 blocks instead of 20 are no failures: %+v", got)
	}
	if got := figures["tx hash failures"]; got.Value != 0 || got.N != 80 {
		t.Errorf("tx hash: %+v", got)
	}
	for _, name := range []string{"tx hash p50", "tx hash p99, 4 clients", "blocks latest 20 rate", "messages msg_hash size"} {
		if figures[name].Value <= 0 {
			t.Errorf("no figure %q", name)
		}
	}
	for url, n := range seen {
		if n > 1 && strings.Contains(url, "?hash=") {
			t.Errorf("%s was asked %d times", url, n)
		}
	}
}

// Package streams proves that clients of streams miss nothing and get nothing twice,
// whatever is killed when: what a client got that always came back behind its last event,
// to any replica, is what the index has, event by event.
package streams

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tonscribe/bench/streams"
	"tonscribe/query/live/events"
	"tonscribe/schema/migrations"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
	kafkatest "tonscribe/test/support/kafka"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// seed is of the devnet, and of all that is chosen at random.
const seed = 5

func long() bool { return os.Getenv("TONSCRIBE_TEST_LONG") != "" }

// kills and clients are how many there are; TONSCRIBE_TEST_LONG makes them the full number.
func kills() int {
	if long() {
		return 30
	}
	return 3
}

func clientsOfEachKind() int {
	if long() {
		return 6
	}
	return 2
}

// patience is how long what must come may take.
const patience = 2 * time.Minute

// pipeline is a chain that goes on, every stage as its own process on Apache Kafka, and
// two replicas of the API.
type pipeline struct {
	*testing.T
	kafka   *kafkatest.Cluster
	dsn     string
	common  []string
	config  string
	listen  map[string]string
	running map[string]*harness.Process
	chain   *harness.Process
	key     string
}

const (
	broker = "broker"
	first  = "query 1"
	second = "query 2"
)

var stages = []string{"ingest", "decode", "contracts", "traces", "sink", first, second}

func start(t *testing.T) *pipeline {
	t.Helper()
	kafka := kafkatest.Start(t, kafkatest.Options{})
	dsn := enginetest.ClickHouse(t).DSN()
	if err := migrations.Up(t.Context(), dsn, migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	network := t.TempDir()
	p := &pipeline{T: t, kafka: kafka, dsn: dsn, config: filepath.Join(network, "devnet", "global.config.json"), listen: map[string]string{}, running: map[string]*harness.Process{}}
	p.chain = harness.Start(t, nil, "devnet", "--data", network, "--interval", "400ms", "--tps", "40", "--seed", strconv.Itoa(seed))
	harness.Await(t, patience, func() bool {
		_, err := os.Stat(p.config)
		return err == nil
	}, p.chain.Output)
	p.common = []string{
		"TONSCRIBE_KAFKA_BROKERS=" + strings.Join(kafka.Brokers(), ","), "TONSCRIBE_KAFKA_PARTITIONS=2",
		"TONSCRIBE_CLICKHOUSE_DSN=" + dsn, "TONSCRIBE_DATA=" + t.TempDir(), "TONSCRIBE_NETWORK=devnet",
		"TONSCRIBE_DECODE_ZEROSTATES=" + filepath.Join(network, "devnet", "states"), "TONSCRIBE_QUERY_LIVE_EVERYTHING=*",
	}
	for _, name := range stages {
		p.listen[name] = harness.FreeAddress(t)
		p.start(name)
	}
	out, err := exec.Command(harness.Binary(t), "keys", "add", "clients", "--rate", "0", "--clickhouse", dsn).Output()
	if err != nil {
		t.Fatalf("keys add: %v", err)
	}
	p.key = strings.TrimSpace(string(out))
	for _, name := range []string{first, second} {
		harness.UseKey("http://"+p.listen[name], p.key)
	}
	return p
}

func (p *pipeline) start(name string, environment ...string) {
	command, _, _ := strings.Cut(name, " ")
	arguments := []string{command, "--listen", p.listen[name]}
	if command == "ingest" {
		arguments = append(arguments, "--source", "liteserver:"+p.config, "--from", "1")
	}
	p.running[name] = harness.Start(p, append(slices.Clone(p.common), environment...), arguments...)
}

// kill kills a process, or the broker, and starts it again.
func (p *pipeline) kill(name string) {
	if name == broker {
		p.kafka.Kill9(0)
		p.kafka.Restart(0)
		return
	}
	p.running[name].Kill()
	p.start(name)
}

// shown is the newest masterchain block of a replica, 0 for none.
func (p *pipeline) shown(name string) uint32 {
	var info struct{ Last struct{ Seqno uint32 } }
	status, body, err := harness.Get("http://" + p.listen[name] + "/api/v3/masterchainInfo")
	if err != nil || status != 200 || json.Unmarshal(body, &info) != nil {
		return 0
	}
	return info.Last.Seqno
}

func (p *pipeline) await(name string, seqno uint32) {
	p.Helper()
	harness.Await(p, patience, func() bool { return p.shown(name) >= seqno }, func() string {
		return fmt.Sprintf("%s shows masterchain block %d, %d is wanted", name, p.shown(name), seqno)
	})
}

// victims are what is killed: each kind at least once, in an order by chance.
func victims(r *rand.Rand, n int) []string {
	list := []string{[]string{first, second}[r.IntN(2)], broker, []string{"decode", "contracts", "traces"}[r.IntN(3)]}
	all := append([]string{broker, first, second}, stages...)
	for len(list) < n {
		list = append(list, all[r.IntN(len(all))])
	}
	list = list[:n]
	r.Shuffle(n, func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

var allTypes = []string{"transactions", "actions", "trace", "account_state_change"}

// settled is how long nothing new may be shown until it is taken that nothing comes.
const settled = 3 * time.Second

// end stops the chain, and returns the last block that both replicas show.
func (p *pipeline) end() (last uint32) {
	p.Helper()
	p.chain.Stop()
	since := time.Now()
	harness.Await(p, patience, func() bool {
		if now := min(p.shown(first), p.shown(second)); now > last {
			last, since = now, time.Now()
		}
		return last > 0 && time.Since(since) > settled
	}, func() string { return fmt.Sprintf("the replicas show %d and %d", p.shown(first), p.shown(second)) })
	harness.AwaitTables(p, p.dsn, last)
	return last
}

// tracesOf are the hashes that the first traces with actions are named by.
func (p *pipeline) tracesOf(name string) (hashes []string) {
	p.Helper()
	var page struct {
		Actions []struct {
			Hash string `json:"trace_external_hash_norm"`
		}
	}
	harness.GetJSON(p, "http://"+p.listen[name]+"/api/v3/actions?limit=200&sort=asc", &page)
	for _, a := range page.Actions {
		if a.Hash != "" && !slices.Contains(hashes, a.Hash) {
			hashes = append(hashes, a.Hash)
		}
	}
	return hashes
}

func TestClientsThatComeBackMissNothingWhateverIsKilled(t *testing.T) {
	p := start(t)
	const early = 8
	p.await(first, early)
	p.await(second, early)
	random := rand.New(rand.NewPCG(seed, 1))
	servers := []string{p.listen[first], p.listen[second]}
	index, err := streams.ReadIndex(t.Context(), servers[0], p.key, 0, early)
	if err != nil {
		t.Fatal(err)
	}
	busy, traces := index.Busy(), p.tracesOf(first)
	var all []*client
	for i := range clientsOfEachKind() {
		add := func(name string, wanted map[string]any) map[string]any {
			c := &client{TB: t, name: fmt.Sprintf("%s %d", name, i), servers: servers, key: p.key, socket: random.IntN(2) == 0, wanted: wanted, random: rand.New(rand.NewPCG(seed, uint64(len(all))))}
			if random.IntN(2) == 0 {
				wanted["from"] = "1"
			}
			all = append(all, c)
			return wanted
		}
		var some []string
		for range 10 {
			some = append(some, busy[random.IntN(len(busy))])
		}
		add(ofAddresses, map[string]any{"types": streams.Types, "addresses": some})
		add(ofEverything, map[string]any{"types": allTypes})
		add(ofTraces, map[string]any{"types": []string{"trace"}, "trace_external_hash_norms": traces})["from"] = "1"
		add(ofActions, map[string]any{"types": []string{"actions"}, "action_types": []string{"jetton_transfer"}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		running := make(chan struct{})
		for _, c := range all {
			go func() { c.run(ctx); running <- struct{}{} }()
		}
		for range all {
			<-running
		}
	}()
	defer func() { cancel(); <-done }()
	newest := uint32(0)
	for _, victim := range victims(random, kills()) {
		// Something happens between two kills, and is shown.
		harness.Await(t, patience, func() bool { return max(p.shown(first), p.shown(second)) > newest }, func() string {
			return fmt.Sprintf("the replicas show %d and %d, %d was shown", p.shown(first), p.shown(second), newest)
		})
		newest = max(p.shown(first), p.shown(second))
		time.Sleep(time.Duration(200+random.IntN(1500)) * time.Millisecond)
		t.Logf("kill -9 of %s at masterchain blocks %d and %d", victim, p.shown(first), p.shown(second))
		p.kill(victim)
	}
	p.await(first, max(p.shown(first), p.shown(second))+5) // all work again
	last := p.end()
	p.compare(all, last)
	cancel()
	<-done
	for _, c := range all {
		t.Logf("%s came back %d times and has %d events", c.name, c.returned, len(c.events))
	}
}

const (
	ofAddresses  = "addresses"
	ofEverything = "everything"
	ofTraces     = "traces"
	ofActions    = "jetton transfers"
)

// compare holds what clients got up to a bundle against a replica that only has the
// tables, and that against the transactions and actions of the API.
func (p *pipeline) compare(all []*client, last uint32) {
	p.Helper()
	const tables = "query tables"
	p.listen[tables] = harness.FreeAddress(p)
	p.start(tables, "TONSCRIBE_QUERY_HEAD_BYTES=0", "TONSCRIBE_QUERY_LIVE_HISTORY_BYTES=1000000000") // each bundle is read once
	harness.UseKey("http://"+p.listen[tables], p.key)
	p.await(tables, last)
	server := p.listen[tables]
	index, err := streams.ReadIndex(p.Context(), server, p.key, 1, last)
	if err != nil {
		p.Fatal(err)
	}
	begin := events.Position{MCSeqno: 1, Event: index.End().Event}
	wanted := index.Wanted(index.Accounts(), begin)
	whole := reference(p, server, p.key, map[string]any{"types": allTypes}, begin, func(list []event) bool {
		return len(list) > 0 && list[len(list)-1].at.Compare(wanted[len(wanted)-1].Position) >= 0
	})
	var inIndex, inStream []string
	for _, e := range wanted {
		inIndex = append(inIndex, e.Position.String()+" "+streams.Types[e.Type])
	}
	for _, e := range whole {
		if e.kind != "trace" {
			inStream = append(inStream, e.at.String()+" "+e.kind)
		}
	}
	if !slices.Equal(inStream, inIndex) {
		p.Errorf("a stream of everything has other events than the index: %v", firstDifference(inStream, inIndex))
	}
	for _, c := range all {
		c.mu.Lock()
		begun := c.begun
		c.mu.Unlock()
		if begun == nil {
			p.Errorf("%s never had an answer", c.name)
			continue
		}
		var want []event
		kind := strings.TrimRight(c.name, " 0123456789")
		switch kind {
		case ofEverything:
			for _, e := range whole {
				if e.at.Compare(*begun) > 0 {
					want = append(want, e)
				}
			}
		case ofTraces:
			for _, e := range whole {
				if e.kind == "trace" && slices.ContainsFunc(c.wanted["trace_external_hash_norms"].([]string), func(hash string) bool {
					return strings.Contains(e.raw, `"trace_external_hash_norm":"`+hash+`"`)
				}) {
					want = append(want, e)
				}
			}
		case ofActions:
			for _, e := range whole {
				if e.kind == "actions" && e.at.Compare(*begun) > 0 && strings.Contains(e.raw, `"type":"jetton_transfer"`) {
					want = append(want, e)
				}
			}
		case ofAddresses:
			for _, e := range index.Wanted(c.wanted["addresses"].([]string), *begun) {
				want = append(want, event{at: e.Position, kind: streams.Types[e.Type]})
			}
		}
		if len(want) == 0 {
			p.Errorf("%s is to get nothing: it proves nothing", c.name)
			continue
		}
		var got []event
		harness.Await(p, patience, func() bool {
			got = c.got(last)
			return len(got) >= len(want) || p.Failed()
		}, func() string { return fmt.Sprintf("%s has %d events, %d are wanted", c.name, len(got), len(want)) })
		if kind != ofEverything { // as it is told at once
			texts := reference(p, server, p.key, c.wanted, *begun, func(list []event) bool { return len(list) >= len(want) })
			sameEvents(p, c.name+" in the reference", places(texts), places(want))
			want = texts
		}
		sameEvents(p, c.name, got, want)
	}
}

// places are events without what they say.
func places(list []event) []event {
	bare := make([]event, len(list))
	for i, e := range list {
		bare[i] = event{at: e.at, kind: e.kind}
	}
	return bare
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("of %d and %d number %d is %v, want %v", len(got), len(want), i, got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
		}
	}
	return ""
}

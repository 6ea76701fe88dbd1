// Package crash proves that nothing is lost and nothing counted twice, whatever
// is killed when: the tables of a run under kill -9 equal those of an
// undisturbed run, row for row.
package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tonscribe/schema/migrations"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
	kafkatest "tonscribe/test/support/kafka"
	"tonscribe/test/support/realdata"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// rounds of kill -9 in each way; TONSCRIBE_TEST_LONG makes it the full number.
func rounds() int {
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		return 30
	}
	return 3
}

// transactionsPerRound keeps every round under load.
const transactionsPerRound = 5000

// chain is a folder of blocks and their last masterchain seqno.
type chain struct {
	dir  string
	last uint32
}

// chains are those that were made, by what they are made with.
var chains = map[string]chain{}

// generated is the chain that a command makes. It is made once for all tests.
func generated(t *testing.T, arguments ...string) chain {
	t.Helper()
	name := strings.Join(arguments, " ")
	if made, there := chains[name]; there {
		return made
	}
	dir := filepath.Join(enginetest.SharedDir(t), "chain")
	out, err := exec.Command(harness.Binary(t), append(arguments, "--out", dir)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	chains[name] = chain{dir, lastSeqno(t, dir)}
	return chains[name]
}

// mainnet is a chain of real blocks long enough for all rounds.
func mainnet(t *testing.T) chain {
	t.Helper()
	return generated(t, "bench", "generate", "--templates", realdata.Path(t, "blocks", "mainnet_single"),
		"--transactions", strconv.Itoa(rounds()*transactionsPerRound))
}

func lastSeqno(t *testing.T, dir string) (last uint32) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		parts := strings.FieldsFunc(entry.Name(), func(r rune) bool { return strings.ContainsRune("(),_.:", r) })
		for i, part := range parts {
			if part == "8000000000000000" && i > 0 && parts[i-1] == "-1" && i+1 < len(parts) {
				if n, err := strconv.ParseUint(parts[i+1], 10, 32); err == nil {
					last = max(last, uint32(n))
				}
			}
		}
		return err
	})
	if err != nil || last == 0 {
		t.Fatalf("no masterchain blocks in %s: %v", dir, err)
	}
	return last
}

func (c chain) upArguments(data, listen string) []string {
	return []string{"up", "--data", data, "--listen", listen, "--source", "files:" + c.dir, "--from", "1", "--to", fmt.Sprint(c.last), "--serve"}
}

// upTo is the same chain, that ends earlier.
func (c chain) upTo(seqno uint32) chain { return chain{c.dir, seqno} }

// run runs `up` over the whole chain and gives the tables' fingerprint.
func (c chain) run(t *testing.T, data string) map[string]string {
	t.Helper()
	listen := harness.FreeAddress(t)
	p := harness.Start(t, nil, c.upArguments(data, listen)...)
	p.AwaitReady("http://"+listen, 5*time.Minute)
	prints := harness.Fingerprint(t, harness.ReadRunFile(t, data).ClickHouse)
	p.Stop()
	return prints
}

// undisturbedRuns are the fingerprints of undisturbed.
var undisturbedRuns = map[chain]map[string]string{}

// undisturbed is the fingerprint of a run over the whole chain that nothing happens
// to. The chain is run once for all tests.
func (c chain) undisturbed(t *testing.T) map[string]string {
	t.Helper()
	if undisturbedRuns[c] == nil {
		undisturbedRuns[c] = c.run(t, t.TempDir())
	}
	return maps.Clone(undisturbedRuns[c])
}

// check compares the tables and asks the API for every transaction.
func check(t *testing.T, base, dsn string, want map[string]string, except ...string) {
	t.Helper()
	got := harness.Fingerprint(t, dsn)
	for _, name := range except {
		delete(got, name)
		delete(want, name)
	}
	for _, difference := range harness.Differences(got, want) {
		t.Error(difference)
	}
	seen := map[any]bool{}
	for _, tx := range harness.Pages(t, base+"/api/v3/transactions?sort=asc&limit=1000", "transactions") {
		if seen[tx["hash"]] {
			t.Fatalf("the API lists transaction %v twice", tx["hash"])
		}
		seen[tx["hash"]] = true
	}
	rows, _, _ := strings.Cut(want["transactions"], " ")
	if fmt.Sprint(len(seen)) != rows {
		t.Errorf("the API lists %d transactions, want %s", len(seen), rows)
	}
}

// seeded is deterministic in what is killed; when it hits is up to the machine.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(7, 11)) }

func pauseBeforeKill(r *rand.Rand) { time.Sleep(time.Duration(200+r.IntN(1500)) * time.Millisecond) }

func TestKillingTheWholeProcessLosesNothingAndDoublesNothing(t *testing.T) {
	c := mainnet(t)
	want := c.undisturbed(t)
	data, listen := t.TempDir(), harness.FreeAddress(t)
	arguments := c.upArguments(data, listen)
	random := seeded()
	for range rounds() {
		p := harness.Start(t, nil, arguments...)
		pauseBeforeKill(random)
		p.Kill()
	}
	p := harness.Start(t, nil, arguments...)
	p.AwaitReady("http://"+listen, 5*time.Minute)
	check(t, "http://"+listen, harness.ReadRunFile(t, data).ClickHouse, want)
	p.Stop()
}

func TestKillingTheClickHouseEngineLosesNothingAndDoublesNothing(t *testing.T) {
	c := mainnet(t)
	want := c.undisturbed(t)
	data, listen := t.TempDir(), harness.FreeAddress(t)
	p := harness.Start(t, nil, c.upArguments(data, listen)...)
	harness.Await(t, time.Minute, func() bool { return strings.Contains(p.Output(), `"message":"serving"`) }, p.Output)
	random := seeded()
	for range rounds() {
		pauseBeforeKill(random)
		killChildren(t, p.PID())
	}
	p.AwaitReady("http://"+listen, 5*time.Minute)
	check(t, "http://"+listen, harness.ReadRunFile(t, data).ClickHouse, want)
	p.Stop()
}

// killChildren kills the engine child processes of a process and waits until
// they are gone.
func killChildren(t *testing.T, parent int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		for _, child := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(child); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL) // gone already when this fails
				harness.Await(t, time.Minute, func() bool { return syscall.Kill(pid, 0) != nil }, func() string {
					return fmt.Sprintf("process %d does not die", pid)
				})
			}
		}
	}
}

// separate runs every stage as its own process on Apache Kafka.
type separate struct {
	t       *testing.T
	dsn     string
	common  []string
	chain   chain
	listen  map[string]string
	running map[string]*harness.Process
}

var stageNames = []string{"ingest", "decode", "contracts", "traces", "sink", "query"}

func startSeparate(t *testing.T, brokers []string, dsn string, c chain, environment ...string) *separate {
	t.Helper()
	if err := migrations.Up(t.Context(), dsn, migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	s := &separate{t: t, dsn: dsn, chain: c, listen: map[string]string{}, running: map[string]*harness.Process{}}
	s.common = []string{
		"TONSCRIBE_KAFKA_BROKERS=" + strings.Join(brokers, ","),
		"TONSCRIBE_KAFKA_PARTITIONS=2",
		"TONSCRIBE_CLICKHOUSE_DSN=" + dsn,
		"TONSCRIBE_DATA=" + t.TempDir(),
	}
	s.common = append(s.common, environment...)
	for _, name := range stageNames {
		s.listen[name] = harness.FreeAddress(t)
		s.start(name)
	}
	harness.AddKey(t, "http://"+s.listen["query"], dsn)
	return s
}

func (s *separate) start(name string, environment ...string) {
	arguments := []string{name, "--listen", s.listen[name]}
	if name == "ingest" {
		arguments = append(arguments, "--source", "files:"+s.chain.dir, "--from", "1", "--to", fmt.Sprint(s.chain.last))
	}
	s.running[name] = harness.Start(s.t, append(slices.Clone(s.common), environment...), arguments...)
}

func (s *separate) kill(name string) {
	s.running[name].Kill()
	s.start(name)
}

// awaitVisible waits until the API and the tables have the range.
func (s *separate) awaitVisible() string {
	s.t.Helper()
	base := "http://" + s.listen["query"]
	var text string
	harness.Await(s.t, 5*time.Minute, func() bool {
		_, body, err := harness.Get(base + "/api/v3/masterchainInfo")
		text = fmt.Sprint(string(body), err)
		return err == nil && strings.Contains(string(body), fmt.Sprintf(`"last":{"workchain":-1,"shard":"8000000000000000","seqno":%d,`, s.chain.last))
	}, func() string {
		out := "the range is not visible: " + text
		for name, p := range s.running {
			log := p.Output()
			out += "\n--- " + name + "\n" + log[max(0, len(log)-1500):]
		}
		return out
	})
	harness.AwaitTables(s.t, s.dsn, s.chain.last)
	return base
}

func TestKillingAnyStageOnApacheKafkaLosesNothingAndDoublesNothing(t *testing.T) {
	brokers := kafkatest.Apache(t)
	c := mainnet(t)
	want := c.undisturbed(t)
	clickhouse := enginetest.ClickHouse(t)
	s := startSeparate(t, brokers, clickhouse.DSN(), c)
	watchHead(t, "http://"+s.listen["query"])
	random := seeded()
	writers := stageNames[:len(stageNames)-1]
	order := random.Perm(len(writers))
	for i := range max(rounds(), len(writers)) {
		pauseBeforeKill(random)
		s.kill(writers[order[i%len(writers)]])
	}
	base := s.awaitVisible()
	// The embedded log of the undisturbed run has another number of partitions.
	check(t, base, clickhouse.DSN(), want, "seals", "progress")
}

func TestKillingTheBrokerOfApacheKafkaLosesNothingAndDoublesNothing(t *testing.T) {
	cluster := kafkatest.Start(t, kafkatest.Options{})
	c := mainnet(t)
	want := c.undisturbed(t)
	clickhouse := enginetest.ClickHouse(t)
	s := startSeparate(t, cluster.Brokers(), clickhouse.DSN(), c)
	watchHead(t, "http://"+s.listen["query"])
	random := seeded()
	for range rounds() {
		pauseBeforeKill(random)
		cluster.Kill9(0)
		cluster.Restart(0)
	}
	base := s.awaitVisible()
	check(t, base, clickhouse.DSN(), want, "seals", "progress")
}

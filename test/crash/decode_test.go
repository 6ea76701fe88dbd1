package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
	kafkatest "tonscribe/test/support/kafka"
)

// decodeKills is how often decode is killed; TONSCRIBE_TEST_LONG makes it the
// full number.
func decodeKills() int {
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		return 20
	}
	return 3
}

// devnet is a folder with a devnet's chain, in which there is every kind of
// contract, and its zerostates; last is its last masterchain seqno.
func devnet(t *testing.T, transactions int) (dir string, last uint32) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "devnet")
	out, err := exec.Command(harness.Binary(t), "devnet", "generate", "--out", dir, "--seed", "11", "--per-block", "40", "--reshard", "15",
		"--transactions", strconv.Itoa(transactions)).CombinedOutput()
	if err != nil {
		t.Fatalf("devnet generate: %v\n%s", err, out)
	}
	return dir, lastSeqno(t, dir)
}

// noDocuments leaves out what is fetched from elsewhere.
var noDocuments = []string{"TONSCRIBE_METADATA_ENABLED=false"}

// run runs `up` up to a seqno and gives the tables' fingerprint.
func run(t *testing.T, data, dir string, to uint32, environment ...string) map[string]string {
	t.Helper()
	listen := harness.FreeAddress(t)
	p := harness.Start(t, append(environment, noDocuments...), upArguments(data, listen, dir, to)...)
	p.AwaitReady("http://"+listen, 5*time.Minute)
	prints := harness.Fingerprint(t, harness.ReadRunFile(t, data).ClickHouse)
	p.Stop()
	return prints
}

// same compares tables, and says that those of contracts are filled.
func same(t *testing.T, what string, got, want map[string]string, except ...string) {
	t.Helper()
	for _, name := range except {
		delete(got, name)
	}
	for _, difference := range harness.Differences(got, want) {
		if name, _, _ := strings.Cut(strings.TrimPrefix(difference, "table "), ":"); !slices.Contains(except, name) {
			t.Errorf("%s: %s", what, difference)
		}
	}
	for _, name := range []string{"accounts", "codes", "contracts", "jetton_masters", "jetton_wallets", "jetton_transfers", "nft_collections", "nft_items", "transaction_traces", "traces", "traces_by_list", "actions", "actions_by_list"} {
		if rows, _, _ := strings.Cut(want[name], " "); rows == "" || rows == "0" {
			t.Errorf("table %s has %q rows: nothing is compared", name, rows)
		}
	}
}

// decoded is the highest bundle that a process has decoded, 0 when it does not
// answer.
func decoded(listen string) (highest float64) {
	_, body, err := harness.Get("http://" + listen + "/metrics")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(body), "\n") {
		if rest, ok := strings.CutPrefix(line, "tonscribe_decode_bundle{"); ok {
			if _, number, ok := strings.Cut(rest, "} "); ok {
				if n, err := strconv.ParseFloat(number, 64); err == nil {
					highest = max(highest, n)
				}
			}
		}
	}
	return highest
}

// awaitDecoded waits until a process has decoded a bundle.
func awaitDecoded(t *testing.T, p *harness.Process, listen string, bundle uint32) {
	t.Helper()
	harness.Await(t, 3*time.Minute, func() bool { return decoded(listen) >= float64(bundle) || !p.Running() }, func() string {
		return fmt.Sprintf("decode has come to bundle %.0f, not to %d\n%s", decoded(listen), bundle, p.Output())
	})
}

func TestKillsInTheMidstOfDecodingEndInTheSameContractsAndAccounts(t *testing.T) {
	dir, last := devnet(t, 500*decodeKills())
	want := run(t, t.TempDir(), dir, last)
	data, random := t.TempDir(), seeded()
	kills := decodeKills()
	for i := range kills {
		listen := harness.FreeAddress(t)
		// A part more for every life, so that each has something to do.
		from, to := last*uint32(i)/uint32(kills), last*uint32(i+1)/uint32(kills)
		p := harness.Start(t, noDocuments, upArguments(data, listen, dir, to)...)
		awaitDecoded(t, p, listen, from+1+random.Uint32N(to-from))
		p.Kill()
	}
	same(t, fmt.Sprintf("after %d kills", kills), run(t, data, dir, last), want)
}

func TestStoresThatAreBuiltFromNothingEndInTheSameTables(t *testing.T) {
	dir, last := devnet(t, 1500)
	want := run(t, t.TempDir(), dir, last)
	data := t.TempDir()
	run(t, data, dir, last/2)
	for _, store := range []string{"cells", "contracts", "traces"} {
		if err := os.RemoveAll(filepath.Join(data, store)); err != nil {
			t.Fatal(err)
		}
	}
	got := run(t, data, dir, last)
	same(t, "with stores built from nothing", got, want)
}

func TestKillingDecodeAloneTwentyTimesEndsInTheSameTables(t *testing.T) {
	if os.Getenv("TONSCRIBE_TEST_LONG") == "" {
		t.Skip("TONSCRIBE_TEST_LONG is not set")
	}
	brokers := kafkatest.Apache(t)
	dir, last := devnet(t, 6000)
	want := run(t, t.TempDir(), dir, last)
	clickhouse := enginetest.ClickHouse(t)
	s := startSeparate(t, brokers, clickhouse.DSN(), dir, last, "TONSCRIBE_DECODE_ZEROSTATES="+filepath.Join(dir, "states"))
	random := seeded()
	for range decodeKills() {
		// It has done something since the last kill, and has something left to do.
		at := decoded(s.listen["decode"])
		awaitDecoded(t, s.running["decode"], s.listen["decode"], uint32(at)+1+random.Uint32N(last/40))
		s.kill("decode")
	}
	s.awaitVisible()
	same(t, "after kills of decode", harness.Fingerprint(t, clickhouse.DSN()), want, "seals", "progress")
}

// A stand-by has a folder of its own, and nothing is copied into it: what decode
// knew comes from the log of blocks, what contracts knew from the topic of its
// store's changes.
func TestStandBysWithFoldersOfTheirOwnTakeOverFromKilledOnes(t *testing.T) {
	brokers := kafkatest.Apache(t)
	dir, last := devnet(t, 1500)
	want := run(t, t.TempDir(), dir, last)
	clickhouse := enginetest.ClickHouse(t)
	const rounds = 3
	s := startSeparate(t, brokers, clickhouse.DSN(), dir, last/rounds, "TONSCRIBE_DECODE_ZEROSTATES="+filepath.Join(dir, "states"))
	random := seeded()
	for round := uint32(1); round < rounds; round++ {
		awaitDecoded(t, s.running["decode"], s.listen["decode"], 1+last*round/rounds-random.Uint32N(last/rounds))
		for _, name := range []string{"decode", "contracts", "traces"} {
			killed := s.running[name]
			s.listen[name] = harness.FreeAddress(t)
			s.start(name, "TONSCRIBE_DATA="+t.TempDir())
			killed.Kill()
		}
		s.last = last * (round + 1) / rounds
		s.running["ingest"].Kill()
		s.start("ingest")
	}
	s.awaitVisible()
	same(t, "after stand-bys took over", harness.Fingerprint(t, clickhouse.DSN()), want, "seals", "progress")
}

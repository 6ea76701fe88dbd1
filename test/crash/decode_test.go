package crash

import (
	"fmt"
	"os"
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

// devnet is a devnet's chain, in which there is every kind of contract, and its
// zerostates.
func devnet(t *testing.T, transactions int) chain {
	t.Helper()
	return generated(t, "devnet", "generate", "--seed", "11", "--per-block", "40", "--reshard", "15", "--transactions", strconv.Itoa(transactions))
}

// short is how many transactions the devnet has where the number of kills does not
// ask for more.
const short = 1500

// zerostates tells decode where those of a devnet are.
func (c chain) zerostates() string {
	return "TONSCRIBE_DECODE_ZEROSTATES=" + filepath.Join(c.dir, "states")
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
	c := devnet(t, short/3*decodeKills())
	want := c.undisturbed(t)
	data, random := t.TempDir(), seeded()
	kills := decodeKills()
	for i := range kills {
		listen := harness.FreeAddress(t)
		// A part more for every life, so that each has something to do.
		from, to := c.last*uint32(i)/uint32(kills), c.last*uint32(i+1)/uint32(kills)
		p := harness.Start(t, nil, c.upTo(to).upArguments(data, listen)...)
		awaitDecoded(t, p, listen, from+1+random.Uint32N(to-from))
		p.Kill()
	}
	same(t, fmt.Sprintf("after %d kills", kills), c.run(t, data), want)
}

func TestStoresThatAreBuiltFromNothingEndInTheSameTables(t *testing.T) {
	c := devnet(t, short)
	want := c.undisturbed(t)
	data := t.TempDir()
	c.upTo(c.last/2).run(t, data)
	for _, store := range []string{"cells", "contracts", "traces"} {
		if err := os.RemoveAll(filepath.Join(data, store)); err != nil {
			t.Fatal(err)
		}
	}
	got := c.run(t, data)
	same(t, "with stores built from nothing", got, want)
}

func TestKillingDecodeAloneTwentyTimesEndsInTheSameTables(t *testing.T) {
	if os.Getenv("TONSCRIBE_TEST_LONG") == "" {
		t.Skip("TONSCRIBE_TEST_LONG is not set")
	}
	brokers := kafkatest.Apache(t)
	c := devnet(t, 6000)
	want := c.undisturbed(t)
	clickhouse := enginetest.ClickHouse(t)
	s := startSeparate(t, brokers, clickhouse.DSN(), c, c.zerostates())
	random := seeded()
	for range decodeKills() {
		// It has done something since the last kill, and has something left to do.
		at := decoded(s.listen["decode"])
		awaitDecoded(t, s.running["decode"], s.listen["decode"], uint32(at)+1+random.Uint32N(c.last/40))
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
	c := devnet(t, short)
	want := c.undisturbed(t)
	clickhouse := enginetest.ClickHouse(t)
	const rounds = 3
	s := startSeparate(t, brokers, clickhouse.DSN(), c.upTo(c.last/rounds), c.zerostates())
	random := seeded()
	for round := uint32(1); round < rounds; round++ {
		awaitDecoded(t, s.running["decode"], s.listen["decode"], 1+c.last*round/rounds-random.Uint32N(c.last/rounds))
		for _, name := range []string{"decode", "contracts", "traces"} {
			killed := s.running[name]
			s.listen[name] = harness.FreeAddress(t)
			s.start(name, "TONSCRIBE_DATA="+t.TempDir())
			killed.Kill()
		}
		s.chain.last = c.last * (round + 1) / rounds
		s.running["ingest"].Kill()
		s.start("ingest")
	}
	s.awaitVisible()
	same(t, "after stand-bys took over", harness.Fingerprint(t, clickhouse.DSN()), want, "seals", "progress")
}

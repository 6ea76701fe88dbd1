package devnet

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tonscribe/test/support/harness"
)

// masters are the root hashes of the masterchain blocks that the API shows, by
// seqno.
func masters(t *testing.T, base string) map[uint32]string {
	t.Helper()
	hashes := map[uint32]string{}
	for _, b := range harness.Pages(t, base+"/api/v3/blocks?workchain=-1&sort=asc&limit=1000", "blocks") {
		seqno := uint32(b["seqno"].(float64))
		if other, twice := hashes[seqno]; twice {
			t.Fatalf("masterchain block %d is %v and %s", seqno, b["root_hash"], other)
		}
		hashes[seqno] = b["root_hash"].(string)
	}
	return hashes
}

// awaitBlock returns when the API shows a masterchain block.
func awaitBlock(t *testing.T, p *harness.Process, base string, seqno uint32) {
	t.Helper()
	var last string
	harness.Await(t, startLimit, func() bool {
		if !p.Running() {
			t.Fatalf("it ended before masterchain block %d was visible:\n%s", seqno, p.Output())
		}
		status, body, err := harness.Get(fmt.Sprintf("%s/api/v3/blocks?workchain=-1&seqno=%d", base, seqno))
		last = fmt.Sprint(status, " ", string(body), " ", err)
		return err == nil && status == 200 && len(body) > len(`{"blocks":[]}`)+100
	}, func() string { return fmt.Sprintf("masterchain block %d is not visible: %s", seqno, last) })
}

// The chain, the log and the tables die together, at any moment. Each time the
// chain goes on where it was, and in the end the tables are those that the same
// chain gives from files.
func TestKilledDevnetAndItsIndexGoOnAsIfNothingHadHappened(t *testing.T) {
	kills, last := 3, uint32(60)
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		kills, last = 25, 600
	}
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	start := func() *harness.Process {
		return harness.Start(t, []string{"TONSCRIBE_DEVNET_INTERVAL=100ms", "TONSCRIBE_DEVNET_TPS=300", "TONSCRIBE_DEVNET_RESHARD=15"},
			"up", "--data", data, "--listen", listen, "--to", fmt.Sprint(last), "--serve")
	}
	chance := rand.New(rand.NewPCG(5, 9))
	seen := map[uint32]string{}
	useKey := func() { // as soon as there is one
		if key, err := os.ReadFile(filepath.Join(data, "api-key")); err == nil {
			harness.UseKey(base, string(key[:len(key)-1]))
		}
	}
	compare := func(kill int) {
		t.Helper()
		now := masters(t, base)
		for seqno, hash := range seen {
			if now[seqno] != hash {
				t.Fatalf("after kill %d masterchain block %d is %q, it was %s", kill, seqno, now[seqno], hash)
			}
		}
		seen = now
	}
	for kill := range kills {
		p := start()
		if chance.IntN(3) == 0 { // also while it starts
			time.Sleep(time.Duration(chance.IntN(1500)) * time.Millisecond)
			p.Kill()
			p = start()
		}
		harness.Await(t, startLimit, func() bool {
			useKey()
			status, _, err := harness.Get(base + "/api/v3/masterchainInfo")
			return err == nil && status == 200
		},
			func() string { return "no block is visible:\n" + p.Output() })
		next := min(last, uint32(len(seen)+1+chance.IntN(2*int(last)/kills)))
		awaitBlock(t, p, base, next)
		compare(kill)
		time.Sleep(time.Duration(chance.IntN(300)) * time.Millisecond) // into the middle of anything
		p.Kill()
	}

	p := start()
	p.AwaitReady(base, startLimit)
	compare(kills)
	for seqno := uint32(1); seqno <= last; seqno++ {
		if seen[seqno] == "" {
			t.Fatalf("%d masterchain blocks, %d is missing", len(seen), seqno)
		}
	}
	got := harness.Fingerprint(t, harness.ReadRunFile(t, data).ClickHouse)
	must(t, "verify", "--data", data, "--from", "1", "--to", fmt.Sprint(last))
	p.Stop()

	out := filepath.Join(t.TempDir(), "out")
	must(t, "devnet", "export", "--data", data, "--out", out)
	want := indexed(t, "files:"+out, fmt.Sprint(last))
	for _, difference := range harness.Differences(got, want) {
		t.Errorf("after %d kills: %s from files", kills, difference)
	}
	if n := rowsOf(t, want, "transactions"); n < 10*int(last) {
		t.Errorf("%d transactions in %d masterchain blocks: the chain was idle", n, last)
	}
}

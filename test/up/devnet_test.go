package up

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tonscribe/sink"
	"tonscribe/test/support/harness"
)

// quick makes the devnet's blocks follow each other faster than they would.
var quick = []string{"TONSCRIBE_DEVNET_INTERVAL=200ms"}

func lastSeqno(t *testing.T, base string) uint32 {
	t.Helper()
	var info struct {
		Last struct {
			Seqno uint32 `json:"seqno"`
		} `json:"last"`
	}
	harness.GetJSON(t, base+"/api/v3/masterchainInfo", &info)
	return info.Last.Seqno
}

// masterHash is the root hash of a masterchain block in the API.
func masterHash(t *testing.T, base string, seqno uint32) string {
	t.Helper()
	var answer struct {
		Blocks []struct {
			RootHash string `json:"root_hash"`
		} `json:"blocks"`
	}
	harness.GetJSON(t, fmt.Sprintf("%s/api/v3/blocks?workchain=-1&seqno=%d", base, seqno), &answer)
	if len(answer.Blocks) != 1 {
		t.Fatalf("%d masterchain blocks with seqno %d", len(answer.Blocks), seqno)
	}
	return answer.Blocks[0].RootHash
}

// walletOf is the address of a funded wallet of the devnet.
func walletOf(t *testing.T, data string, number int) string {
	t.Helper()
	out, err := run(t, "devnet", "wallets", "--data", data)
	if err != nil {
		t.Fatalf("devnet wallets: %v\n%s", err, out)
	}
	for line := range strings.SplitSeq(out, "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == strconv.Itoa(number) {
			return fields[1]
		}
	}
	t.Fatalf("no wallet %d in\n%s", number, out)
	return ""
}

func TestUpWithoutASourceShowsADevnetThatGoesOnAfterARestart(t *testing.T) {
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	settings := append(slices.Clone(quick), "TONSCRIBE_SINK_EVERY="+sink.HeadEvery.String()) // as it is by default
	p := harness.Start(t, settings, "up", "--data", data, "--listen", listen)
	p.AwaitReady(base, 2*time.Minute)
	for _, want := range []string{base + "/api/v3/blocks", base + "/api/v3/transactions", base + "/api/v3/messages", "global.config.json", "api-key", "--type-namespace ton"} {
		if !strings.Contains(p.Output(), want) {
			t.Errorf("what it prints does not name %s", want)
		}
	}

	out, err := exec.Command(harness.Binary(t), "devnet", "send", "--data", data, "--from", "1", "--to", walletOf(t, data, 4), "--amount", "12.5", "--comment", "thanks").CombinedOutput()
	hash, bad := hex.DecodeString(strings.TrimSpace(string(out)))
	if err != nil || bad != nil || len(hash) != 32 {
		t.Fatalf("devnet send: %v\n%s", err, out)
	}
	var sent struct {
		Transactions []struct {
			OutMsgs []struct {
				Value string `json:"value"`
			} `json:"out_msgs"`
			McSeqno uint32 `json:"mc_block_seqno"`
		} `json:"transactions"`
	}
	harness.Await(t, time.Minute, func() bool {
		harness.GetJSON(t, base+"/api/v3/transactions?hash="+hex.EncodeToString(hash), &sent)
		return len(sent.Transactions) == 1
	}, func() string { return "the transfer is not visible" })
	if messages := sent.Transactions[0].OutMsgs; len(messages) != 1 || messages[0].Value != "12500000000" {
		t.Errorf("the transfer sent %+v, want one message of 12500000000", messages)
	}

	seqno := sent.Transactions[0].McSeqno
	before := masterHash(t, base, seqno)
	p.Stop()

	p = harness.Start(t, settings, "up", "--data", data, "--listen", listen)
	p.AwaitReady(base, 2*time.Minute)
	if after := masterHash(t, base, seqno); after != before {
		t.Errorf("after the restart masterchain block %d is %s, it was %s", seqno, after, before)
	}
	head := lastSeqno(t, base)
	harness.Await(t, time.Minute, func() bool { return lastSeqno(t, base) > head+3 }, func() string { return "no new blocks after the restart" })
	if out, err := run(t, "verify", "--data", data, "--from", "1", "--to", fmt.Sprint(head)); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
}

func TestGeneratedChainGivesTheSameTablesFromEverySource(t *testing.T) {
	const seed, fixedTime, perBlock = "5", "1700000000", 30
	const interval = 200 * time.Millisecond
	dir := t.TempDir()
	last := ""
	for _, format := range []string{"files", "archive"} {
		out, err := run(t, "devnet", "generate", "--out", filepath.Join(dir, format), "--format", format, "--transactions", "1500",
			"--seed", seed, "--fixed-time", fixedTime, "--per-block", fmt.Sprint(perBlock), "--interval", interval.String(), "--reshard", "9")
		if err != nil {
			t.Fatalf("devnet generate: %v\n%s", err, out)
		}
		_, rest, _ := strings.Cut(out, "masterchain blocks 1 to ")
		last, _, _ = strings.Cut(rest, ",")
	}
	if n, ok := new(big.Int).SetString(last, 10); !ok || n.Sign() <= 0 {
		t.Fatalf("last masterchain block %q", last)
	}
	live := []string{"TONSCRIBE_DEVNET_SEED=" + seed, "TONSCRIBE_DEVNET_FIXED_TIME=" + fixedTime, "TONSCRIBE_DEVNET_RESHARD=9",
		"TONSCRIBE_DEVNET_INTERVAL=" + interval.String(), "TONSCRIBE_DEVNET_TPS=" + fmt.Sprint(perBlock*int(time.Second/interval))}
	var want map[string]string
	for _, source := range []string{"files:" + filepath.Join(dir, "files"), "archive:" + filepath.Join(dir, "archive"), "devnet"} {
		data, listen := t.TempDir(), harness.FreeAddress(t)
		p := harness.Start(t, live, "up", "--data", data, "--listen", listen, "--source", source, "--from", "1", "--to", last, "--serve")
		p.AwaitReady("http://"+listen, 4*time.Minute)
		if out, err := run(t, "verify", "--data", data, "--source", "files:"+filepath.Join(dir, "files"), "--from", "1", "--to", last); err != nil {
			t.Errorf("%s: verify: %v\n%s", source, err, out)
		}
		got := harness.Fingerprint(t, harness.ReadRunFile(t, data).ClickHouse)
		if want == nil {
			want = got
		}
		for _, difference := range harness.Differences(got, want) {
			t.Errorf("%s: %s", source, difference)
		}
		p.Stop()
	}
	if strings.HasPrefix(want["transactions"], "0 ") {
		t.Errorf("transactions: %s", want["transactions"])
	}
}

package up

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/test/support/harness"
)

// publicPace is the time between two masterchain blocks of mainnet.
const publicPace = 400 * time.Millisecond

// publicNetwork is a devnet that plays one: its lite server, at the pace of
// mainnet, and an address that publishes its global config.
type publicNetwork struct {
	publisher *httptest.Server
	fetches   atomic.Int32
	zerostate string // root hash, hex
}

func newPublicNetwork(t *testing.T) *publicNetwork {
	t.Helper()
	data := t.TempDir()
	harness.Start(t, nil, "devnet", "--data", data, "--interval", publicPace.String())
	path := filepath.Join(data, "devnet", "global.config.json")
	var text []byte
	harness.Await(t, time.Minute, func() bool {
		var err error
		text, err = os.ReadFile(path)
		return err == nil
	}, func() string { return "the devnet has no global config" })
	var config struct {
		Validator struct {
			Zerostate struct {
				RootHash []byte `json:"root_hash"`
			} `json:"zero_state"`
		} `json:"validator"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	awaitHead(t, path, oldHead)
	n := &publicNetwork{zerostate: fmt.Sprintf("%x", config.Validator.Zerostate.RootHash)}
	n.publisher = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n.fetches.Add(1)
		_, _ = w.Write(text)
	}))
	t.Cleanup(n.publisher.Close)
	return n
}

// oldHead is a masterchain block that the network has before anybody follows it.
const oldHead = 12

// awaitHead returns when the lite servers of a global config have a masterchain
// block.
func awaitHead(t *testing.T, path string, seqno uint32) {
	t.Helper()
	pool := liteclient.NewConnectionPool()
	defer pool.Stop()
	if err := pool.AddConnectionsFromConfigFile(path); err != nil {
		t.Fatal(err)
	}
	client := ton.NewAPIClient(pool, ton.ProofCheckPolicyUnsafe)
	harness.Await(t, time.Minute, func() bool {
		head, err := client.CurrentMasterchainInfo(t.Context())
		return err == nil && head.SeqNo >= seqno
	}, func() string { return fmt.Sprintf("the devnet does not reach masterchain block %d", seqno) })
}

// environment names it instead of the real one.
func (n *publicNetwork) environment() []string {
	return []string{"TONSCRIBE_NETWORK_CONFIG_URL=" + n.publisher.URL, "TONSCRIBE_NETWORK_CONFIG_ZEROSTATE=" + n.zerostate}
}

// masterTimes are the times of the newest masterchain blocks in the API, the
// newest first, by seqno.
func masterTimes(t *testing.T, base string, limit int) (seqnos []uint32, times []int64) {
	t.Helper()
	var answer struct {
		Blocks []struct {
			Seqno    uint32 `json:"seqno"`
			GenUtime string `json:"gen_utime"`
		} `json:"blocks"`
	}
	harness.GetJSON(t, fmt.Sprintf("%s/api/v3/blocks?workchain=-1&sort=desc&limit=%d", base, limit), &answer)
	for _, b := range answer.Blocks {
		at, err := strconv.ParseInt(b.GenUtime, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seqnos, times = append(seqnos, b.Seqno), append(times, at)
	}
	return seqnos, times
}

func TestUpFollowsAPublicNetworkFromItsHeadOn(t *testing.T) {
	n := newPublicNetwork(t)
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.Start(t, n.environment(), "up", "--network", "mainnet", "--data", data, "--listen", listen)
	p.AwaitReady(base, 2*time.Minute)
	began := lastSeqno(t, base)
	const blocks = 20 // eight seconds
	harness.Await(t, time.Minute, func() bool { return lastSeqno(t, base) >= began+blocks }, p.Output)

	seqnos, times := masterTimes(t, base, 1000)
	if first := seqnos[len(seqnos)-1]; first < oldHead || first > began {
		t.Errorf("the API begins at masterchain block %d, ready was %d: want the head", first, began)
	}
	at := int64(0) // a second of several blocks
	for i := 1; i < len(seqnos); i++ {
		if seqnos[i] != seqnos[i-1]-1 || times[i] > times[i-1] {
			t.Fatalf("block %d of %d follows %d of %d", seqnos[i-1], times[i-1], seqnos[i], times[i])
		}
		if times[i] == times[i-1] {
			at = times[i]
		}
	}
	if at == 0 {
		t.Errorf("none of %d blocks shares a second with the one before, want about every other", len(seqnos))
	}
	// A second is found with all of its blocks.
	want := 0
	for _, other := range times {
		if other == at {
			want++
		}
	}
	var found struct {
		Blocks []struct{} `json:"blocks"`
	}
	harness.GetJSON(t, fmt.Sprintf("%s/api/v3/blocks?workchain=-1&start_utime=%d&end_utime=%d&limit=100", base, at, at), &found)
	if len(found.Blocks) != want {
		t.Errorf("%d blocks of the second %d, want %d", len(found.Blocks), at, want)
	}
	var set struct {
		Result struct {
			Type string `json:"@type"`
			Slot *int   `json:"slot"`
		} `json:"result"`
	}
	harness.GetJSON(t, fmt.Sprintf("%s/api/v2/getMasterchainBlockSignatures?seqno=%d", base, began+5), &set)
	if set.Result.Type != "ton.blocks.blockSignatures.simplex" && set.Result.Type != "blocks.blockSignatures.simplex" || set.Result.Slot == nil {
		t.Errorf("signatures of block %d: %+v", began+5, set.Result)
	}
	p.Stop()

	// The address is away: what it said before serves, and that is said.
	n.publisher.Close()
	again := harness.Start(t, n.environment(), "up", "--network", "mainnet", "--data", data, "--listen", listen)
	again.AwaitReady(base, 2*time.Minute)
	if !strings.Contains(again.Output(), "using the one from before") {
		t.Errorf("it does not say that the global config is an old one:\n%s", again.Output())
	}
	if seqnos, _ := masterTimes(t, base, 1000); seqnos[0] < began+blocks || len(seqnos) != int(seqnos[0]-seqnos[len(seqnos)-1])+1 {
		t.Errorf("after the restart: %d blocks from %d to %d", len(seqnos), seqnos[len(seqnos)-1], seqnos[0])
	}
	again.Stop()
}

func TestFromFillsInWhatAPublicNetworkHadBefore(t *testing.T) {
	n := newPublicNetwork(t)
	listen := harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.Start(t, n.environment(), "up", "--network", "testnet", "--from", "3", "--data", t.TempDir(), "--listen", listen)
	p.AwaitReady(base, 2*time.Minute)
	if seqnos, _ := masterTimes(t, base, 1000); seqnos[len(seqnos)-1] != 3 || len(seqnos) != int(seqnos[0])-2 {
		t.Errorf("%d blocks from %d to %d, want all from 3 on", len(seqnos), seqnos[len(seqnos)-1], seqnos[0])
	}
	p.Stop()
}

// Before anything else is started, and with the way out.
func TestUpSaysWhatToDoWhereThePublicNetworkCannotBeFound(t *testing.T) {
	n := newPublicNetwork(t)
	for name, c := range map[string]struct {
		environment []string
		want        []string
	}{
		"nobody answers": {
			[]string{"TONSCRIBE_NETWORK_CONFIG_URL=http://127.0.0.1:1/global.config.json"},
			[]string{"cannot be fetched", "127.0.0.1:1", "--source liteserver:FILE"},
		},
		"another chain": {n.environment()[:1], []string{"another chain than mainnet", "--source liteserver:FILE"}},
	} {
		data := t.TempDir()
		p := harness.Start(t, c.environment, "up", "--network", "mainnet", "--data", data, "--listen", harness.FreeAddress(t))
		if err := p.Wait(time.Minute); err == nil {
			t.Errorf("%s: it ended well", name)
		}
		for _, want := range c.want {
			if !strings.Contains(p.Output(), want) {
				t.Errorf("%s: it does not say %q:\n%s", name, want, p.Output())
			}
		}
		if _, err := os.Stat(filepath.Join(data, "clickhouse")); err == nil {
			t.Errorf("%s: the engine was started", name)
		}
	}
}

package apiclients

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tonscribe/devnet"
	"tonscribe/test/support/harness"
	nodetest "tonscribe/test/support/node"
)

func TestMessagesOfClientsAreFoundByTheirHashes(t *testing.T) {
	nodetest.Modules(t)
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--seed", strconv.Itoa(seed), "--interval", "1s", "--tps", "5", "--type-namespace", "ton")
	t.Cleanup(p.Stop) // its engine ends before the folder does
	p.AwaitReady(base, time.Minute)
	key, err := os.ReadFile(filepath.Join(data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	owner := devnet.OwnerOf(seed, 1)
	n := node{Base: base, Secret: hex.EncodeToString(owner.Key.Seed()), Receiver: devnet.OwnerOf(seed, 4).Address(0).String()}
	input, err := json.Marshal(struct {
		node
		Key string `json:"key"`
	}{n, strings.TrimSpace(string(key))})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", nodetest.Run(t, input, "testdata/found.js"))
}

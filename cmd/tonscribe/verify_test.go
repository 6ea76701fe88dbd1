package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// verifying is a process of 'verify' with a source.
func verifying(t *testing.T, source string) *process {
	t.Helper()
	s := &settings{Configuration: defaultConfiguration()}
	s.Data, s.Ingest.Source = t.TempDir(), source
	p, err := newProcess(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestVerifyTakesTheBlocksOfANetworkFromTheLiteServersThatItPublishes(t *testing.T) {
	zero := make([]byte, 32)
	zero[0] = 1
	id := func(seqno int, root []byte) map[string]any {
		return map[string]any{"workchain": -1, "shard": -1 << 63, "seqno": seqno, "root_hash": root, "file_hash": make([]byte, 32)}
	}
	text, err := json.Marshal(map[string]any{
		"liteservers": []any{map[string]any{"ip": 2130706433, "port": 1, "id": map[string]any{"@type": "pub.ed25519", "key": make([]byte, 32)}}},
		"validator":   map[string]any{"zero_state": id(0, zero), "init_block": id(7, make([]byte, 32))},
	})
	if err != nil {
		t.Fatal(err)
	}
	published := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) }))
	defer published.Close()
	p := verifying(t, fromNetwork)
	p.settings.NetworkConfig.URL, p.settings.NetworkConfig.Zerostate = published.URL, hex.EncodeToString(zero)
	source, err := p.blocksAgain(context.Background())
	if got := p.settings.Ingest; err != nil || source == nil || !strings.HasPrefix(got.Source, "liteserver:") || got.FromHead {
		t.Errorf("the source is %q, from the head %t (%v), want lite servers with old blocks", got.Source, got.FromHead, err)
	}
}

func TestVerifyRefusesASourceThatIsNoneBeforeItReadsTheTables(t *testing.T) {
	for source, want := range map[string]string{"nonsense": `unknown kind "nonsense"`, "files:" + t.TempDir() + "/none": "none"} {
		if _, err := verifying(t, source).blocksAgain(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", source, err, want)
		}
	}
	named := verifying(t, "")
	named.settings.Ingest.ToHash = strings.Repeat("ab", 32)
	if _, err := named.blocksAgain(context.Background()); err == nil || !strings.Contains(err.Error(), "--source") {
		t.Errorf("a block's hash without a source: %v, want an error: nothing would be compared with it", err)
	}
	if source, err := verifying(t, "").blocksAgain(context.Background()); source != nil || err != nil {
		t.Errorf("without a source: %v, %v, want neither", source, err)
	}
}

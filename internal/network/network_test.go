package network

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/report"
	"tonscribe/test/support/realdata"
)

// published is a global config with a zerostate and an init block.
func published(zero [32]byte, change func(config map[string]any)) string {
	id := func(seqno int, root []byte) map[string]any {
		return map[string]any{"workchain": -1, "shard": -1 << 63, "seqno": seqno, "root_hash": root, "file_hash": make([]byte, 32)}
	}
	config := map[string]any{
		"liteservers": []any{map[string]any{"ip": 2130706433, "port": 4924, "id": map[string]any{"@type": "pub.ed25519", "key": make([]byte, 32)}}},
		"validator":   map[string]any{"zero_state": id(0, zero[:]), "init_block": id(7, make([]byte, 32))},
	}
	if change != nil {
		change(config)
	}
	text, err := json.Marshal(config)
	if err != nil {
		panic(err)
	}
	return string(text)
}

var zero = [32]byte{1, 2, 3}

// publisher serves what it is told to.
type publisher struct {
	*httptest.Server
	handler atomic.Pointer[http.HandlerFunc]
}

func publish(t *testing.T, text string) *publisher {
	t.Helper()
	p := &publisher{}
	p.say(text)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*p.handler.Load())(w, r) }))
	t.Cleanup(p.Close)
	return p
}

func (p *publisher) say(text string) {
	p.do(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
}

func (p *publisher) do(handler http.HandlerFunc) { p.handler.Store(&handler) }

// keeper is a component of a made-up network with what it logs.
func keeper(t *testing.T, url string, change func(*Configuration)) (*Component, *bytes.Buffer) {
	t.Helper()
	c := DefaultConfiguration()
	c.URL, c.Zerostate, c.Timeout = url, hex.EncodeToString(zero[:]), 5*time.Second
	if change != nil {
		change(&c)
	}
	said := &bytes.Buffer{}
	n, err := New(Mainnet, filepath.Join(t.TempDir(), "networks"), c,
		Dependencies{Report: report.Reporter{Log: zerolog.New(said), Metrics: prometheus.NewRegistry()}})
	if err != nil {
		t.Fatal(err)
	}
	return n, said
}

func (n *Component) count(result string) float64 {
	return testutil.ToFloat64(n.fetches.WithLabelValues(result))
}

func TestPublishedConfigIsKept(t *testing.T) {
	text := published(zero, nil)
	n, _ := keeper(t, publish(t, text).URL, nil)
	path, err := n.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(path)
	if err != nil || string(kept) != text {
		t.Errorf("kept %q (%v), want %q", kept, err, text)
	}
	if _, err := n.Config(t.Context()); err != nil || n.count(resultNew) != 1 || n.count(resultSame) != 1 {
		t.Errorf("%v; new %g, same %g, want 1 and 1", err, n.count(resultNew), n.count(resultSame))
	}
}

// What cannot be used never takes the place of what can, and is told of.
func TestConfigFromBeforeIsUsedWhereTheNewOneCannotBe(t *testing.T) {
	good := published(zero, nil)
	many := make([]any, 0, maxServers+1)
	for i := range maxServers + 1 {
		many = append(many, map[string]any{"ip": i, "port": 1, "id": map[string]any{"key": make([]byte, 32)}})
	}
	validator := func(key string, value any) func(map[string]any) {
		return func(config map[string]any) { config["validator"].(map[string]any)[key] = value }
	}
	for name, c := range map[string]struct {
		say  http.HandlerFunc
		text string
		want string // in what is logged
	}{
		"no answer":        {say: func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, want: "EOF"},
		"an error":         {say: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, want: "503"},
		"no JSON":          {text: "<html>", want: "no TON global config"},
		"no servers":       {text: published(zero, func(c map[string]any) { c["liteservers"] = []any{} }), want: "no liteservers"},
		"too many servers": {text: published(zero, func(c map[string]any) { c["liteservers"] = many }), want: "257 lite servers"},
		"another chain":    {text: published([32]byte{9}, nil), want: "another chain than mainnet"},
		"no zerostate":     {text: published(zero, validator("zero_state", nil)), want: "no validator.zero_state"},
		"no init block":    {text: published(zero, validator("init_block", nil)), want: "no validator.init_block"},
		"too long":         {text: good + strings.Repeat(" ", 1<<20), want: "longer than 1048576 bytes"},
		"redirect to http": {say: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://ton.example/", http.StatusFound)
		}, want: "must begin with https"},
		"redirects for ever": {say: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) }, want: "more than 3 redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			p := publish(t, good)
			n, said := keeper(t, p.URL, nil)
			if _, err := n.Config(t.Context()); err != nil {
				t.Fatal(err)
			}
			if p.say(c.text); c.say != nil {
				p.do(c.say)
			}
			path, err := n.Config(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if kept, err := os.ReadFile(path); err != nil || string(kept) != good {
				t.Errorf("kept %.200q (%v)", kept, err)
			}
			if !strings.Contains(said.String(), c.want) || !strings.Contains(said.String(), "using the one from before") {
				t.Errorf("it says %s, want %q", said, c.want)
			}
			if n.count(resultUnreachable)+n.count(resultRefused) != 1 {
				t.Errorf("unreachable %g, refused %g, want 1 in all", n.count(resultUnreachable), n.count(resultRefused))
			}
		})
	}
}

func TestErrorWithoutAnyConfigSaysWhatToDo(t *testing.T) {
	p := publish(t, "")
	p.Close()
	n, _ := keeper(t, p.URL, nil)
	_, err := n.Config(t.Context())
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{p.URL, "connection refused", "--source liteserver:FILE", "HTTPS_PROXY"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

func TestServerThatNeverEndsItsAnswerIsGivenUp(t *testing.T) {
	p := publish(t, "")
	p.do(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	n, _ := keeper(t, p.URL, func(c *Configuration) { c.Timeout = 50 * time.Millisecond })
	if _, err := n.Config(t.Context()); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("%v, want a deadline", err)
	}
}

func TestConfigIsFetchedAgain(t *testing.T) {
	p := publish(t, published(zero, nil))
	n, _ := keeper(t, p.URL, func(c *Configuration) { c.Refresh = time.Millisecond })
	path, err := n.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	newer := published(zero, func(c map[string]any) { c["dht"] = 1 })
	fetched := make(chan struct{}, 100)
	p.do(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, newer)
		select {
		case fetched <- struct{}{}:
		default:
		}
	})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-fetched
	<-fetched // the first one is in its place
	if err := n.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != newer {
		t.Errorf("kept %q (%v), want %q", kept, err, newer)
	}
}

func TestAddressMustBeSafeFromChangesOnTheWay(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://ton.example/config.json": true, "http://127.0.0.1:8080/x": true, "http://[::1]/x": true, "http://localhost/x": true,
		"http://ton.example/config.json": false, "http://127.0.0.1.ton.example/": false, "file:///etc/passwd": false, "ton.org/x": false, "https://": false,
	} {
		c := DefaultConfiguration()
		c.URL = address
		if _, err := New(Mainnet, t.TempDir(), c, Dependencies{Report: report.Silent()}); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Every node and wallet has these hashes; mainnet's zerostate is in the test data.
func TestPresetsNameTheChains(t *testing.T) {
	for name, want := range map[string]struct{ url, root, file string }{
		Mainnet: {"https://ton.org/global.config.json", "F6OpKZKqvqeFp6CQmFomXNMfMj2EnaUSOXN+Mh+wVWk=", "XplPz01CXAps5qeSWUtxcyBfdAo5zVb1N979KLSKD24="},
		Testnet: {"https://ton.org/testnet-global.config.json", "gj+B8wb/AmlPk1z1AhVI484rhrUpgSr2oSFIh56VoSg=", "Z+IKwYS54DmmJmesw/nAD5DzWadnOCMzee+kdgSYDOg="},
	} {
		c, p, err := DefaultConfiguration().complete(name)
		if err != nil {
			t.Fatal(err)
		}
		if c.URL != want.url || base64Of(t, p.rootHash) != want.root || base64Of(t, p.fileHash) != want.file {
			t.Errorf("%s: %s, %s, %s; want %+v", name, c.URL, base64Of(t, p.rootHash), base64Of(t, p.fileHash), want)
		}
	}
	data, err := os.ReadFile(realdata.Path(t, "states", "mainnet_zerostate_mc_5E994FCF.boc"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := cell.FromBOC(data)
	if err != nil {
		t.Fatal(err)
	}
	if file, p := sha256.Sum256(data), presets[Mainnet]; hex.EncodeToString(root.Hash()) != p.rootHash || hex.EncodeToString(file[:]) != p.fileHash {
		t.Errorf("mainnet's zerostate is %x, %x; the preset has %s, %s", root.Hash(), file, p.rootHash, p.fileHash)
	}
}

func base64Of(t *testing.T, text string) string {
	t.Helper()
	hash, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(hash)
}

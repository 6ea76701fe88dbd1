package ingest

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/decode"
	"tonscribe/test/support/litetest"
)

const (
	mainnetZerostate = "F6OpKZKqvqeFp6CQmFomXNMfMj2EnaUSOXN+Mh+wVWk="
	mainnetGlobalID  = -239
)

func TestAChainOfAnotherNetworkIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, source string
		from         uint32
		globalID     int32
		zerostate    string
		says         string // empty: taken
	}{
		{"the network's own", "files:" + genesis(t), 1, mainnetGlobalID, mainnetZerostate, ""},
		{"another global id", "files:" + genesis(t), 1, -3, "", "(-1,8000000000000000,1)"},
		{"another global id, from the middle", "files:" + genesis(t), 30, -3, "", "has global_id -239, not -3"},
		{"the same global id after another zerostate", "archive:" + packs(t), 1, mainnetGlobalID, mainnetZerostate, "follows the zerostate"},
		{"in hexadecimal digits", "archive:" + packs(t), 1, 0, strings.Repeat("0", 64), "follows the zerostate"},
		{"nothing is asked for", "archive:" + packs(t), 1, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := configure(c.source, c.from, c.from+2)
			conf.GlobalID, conf.Zerostate = c.globalID, c.zerostate
			made := component(t, conf, newTape(1))
			err := made.Start(t.Context())
			if err == nil {
				await(t, made)
				err = made.Err()
				if err := made.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("error %v, want %q", err, c.says)
			}
			if err != nil && !strings.Contains(err.Error(), "--network") {
				t.Errorf("%v does not say what to do", err)
			}
		})
	}
}

// Neither by the word of a global config nor by that of servers.
func TestLiteServersOfAnotherChainAreRefused(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 5)
	server := litetest.Listen(t, d.Handle)
	c := overSigned(t, d, 5, server)
	c.Zerostate = base64.StdEncoding.EncodeToString(d.Zero().RootHash)
	if err := c.Check(); err != nil {
		t.Errorf("the chain's own: %v", err)
	}
	publish(t, c, newTape(1))

	c.Zerostate = mainnetZerostate
	err := component(t, c, newTape(1)).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "of another chain") || !strings.Contains(err.Error(), "--network") {
		t.Errorf("a global config of another chain: %v", err)
	}
	if err := c.Check(); err == nil {
		t.Error("a global config of another chain is found good before the start")
	}

	c.Source = "liteserver:" + litetest.GlobalConfig(t, nil, d.Init(), server)
	log, book := newTape(1), &logBook{said: make(chan struct{}, 100)}
	made := observed(t, c, log, book)
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan error, 1)
	go func() { started <- made.Start(ctx) }()
	book.await(t, "left out", "serves another network", hex.EncodeToString(parsed(t, mainnetZerostate)))
	cancel()
	if err := <-started; err == nil {
		t.Error("a server of another chain is followed where the global config names no zerostate")
	}
	if err := made.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func parsed(t *testing.T, text string) []byte {
	t.Helper()
	hash, err := parseHash(text)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestToNamesTheBlockThatIsMeant(t *testing.T) {
	dir := copyFolder(t, genesis(t))
	for n := 41; n < 200; n++ {
		os.Remove(filepath.Join(dir, name(-1, whole, n)))
	}
	boc, err := os.ReadFile(filepath.Join(dir, name(-1, whole, 40)))
	if err != nil {
		t.Fatal(err)
	}
	info, err := decode.Header(boc)
	if err != nil {
		t.Fatal(err)
	}
	hash := info.ID.RootHash
	for _, c := range []struct {
		name, hash string
		unproven   bool
		refused    bool
	}{
		{"no hash", "", true, false},
		{"hexadecimal digits", hex.EncodeToString(hash), false, false},
		{"base64", base64.StdEncoding.EncodeToString(hash), false, false},
		{"base64 for URLs", base64.RawURLEncoding.EncodeToString(hash), false, false},
		{"another hash", strings.Repeat("ab", 32), false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := configure("files:"+dir, 1, 40)
			conf.ToHash, conf.OnBad = c.hash, Skip
			log, logged := newTape(1), &logBook{}
			made := observed(t, conf, log, logged)
			begin(t, made)
			await(t, made)
			if got := logged.has("nothing proves it", "(-1,8000000000000000,40)", "--to 40:ROOTHASH"); got != c.unproven {
				t.Errorf("says that the last block is unproven: %t, want %t", got, c.unproven)
			}
			if got := logged.has("block refused", "(-1,8000000000000000,40)", string(ReasonRootHash)); got != c.refused {
				t.Errorf("refused: %t, want %t:\n%s", got, c.refused, logged)
			}
			if got, want := len(bundles(log.read(t, 0))), map[bool]int{false: 40, true: 39}[c.refused]; got != want {
				t.Errorf("%d bundles, want %d", got, want)
			}
		})
	}
}

func TestMistakesInTheSourceAndRangeAreToldBeforeAnythingStarts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(c *Configuration){
		"there is no such folder":         func(c *Configuration) { c.Source = "files:" + file + "-not" },
		"not a folder":                    func(c *Configuration) { c.Source = "archive:" + file },
		file:                              func(c *Configuration) { c.Source = "liteserver:" + file },
		"--from 7 is after --to 3":        func(c *Configuration) { c.From, c.To = 7, 3 },
		"which is not set":                func(c *Configuration) { c.To, c.ToHash = 0, strings.Repeat("ab", 32) },
		"want 64 hexadecimal digits":      func(c *Configuration) { c.ToHash = "abc" },
		`unknown kind "blocks"`:           func(c *Configuration) { c.Source = "blocks:x" },
		"ingest.zerostate: \"-\" is no h": func(c *Configuration) { c.Zerostate = "-" },
	} {
		c := configure("files:"+genesis(t), 1, 60)
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q", err, says)
		}
	}
	if err := configure("files:"+genesis(t), 1, 60).Check(); err != nil {
		t.Error(err)
	}
}

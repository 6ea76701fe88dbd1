package liteserver

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/history"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
	"tonscribe/test/support/historytest"
)

var testKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// serve starts a lite server on a store.
func serve(t testing.TB, store *history.Store, send func(*cell.Cell) error, change ...func(*Configuration)) *Component {
	t.Helper()
	configuration := DefaultConfiguration()
	configuration.Key = testKey
	for _, f := range change {
		f(&configuration)
	}
	c, err := New(configuration, Dependencies{Report: report.Silent(), History: store, Send: send, Now: func() uint32 { return 1_600_000_000 }})
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, c)
	return c
}

// connect is tonutils-go's client, by the server's own global config.
func connect(t testing.TB, c *Component, policy ton.ProofCheckPolicy) *ton.APIClient {
	t.Helper()
	data, err := c.GlobalConfig()
	if err != nil {
		t.Fatal(err)
	}
	var config liteclient.GlobalConfig
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	pool := liteclient.NewConnectionPool()
	t.Cleanup(pool.Stop)
	if err := pool.AddConnectionsFromConfig(t.Context(), &config); err != nil {
		t.Fatal(err)
	}
	client := ton.NewAPIClient(pool, policy)
	client.SetTrustedBlockFromConfig(&config)
	return client
}

// realStore holds the beginning of a real chain.
func realStore(t testing.TB) (*history.Store, historytest.Chain) {
	t.Helper()
	c := historytest.Load(t)
	s, err := history.Open(t.TempDir(), history.Options{Recent: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.SetZerostates(c.Zerostates...); err != nil {
		t.Fatal(err)
	}
	for _, b := range c.Bundles {
		if err := s.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	return s, c
}

func refuseAll(*cell.Cell) error { return errors.New("not accepted") }

func encoded(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }

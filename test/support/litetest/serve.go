package litetest

import (
	"crypto/ed25519"
	"testing"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
	"tonscribe/devnet/liteserver"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
)

// NewStore is a history of the test's own that begins with the zerostates.
func NewStore(t testing.TB, options history.Options, zerostates ...*chain.Zerostate) *history.Store {
	t.Helper()
	store, err := history.Open(t.TempDir(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if err := store.SetZerostates(zerostates...); err != nil {
		t.Fatal(err)
	}
	return store
}

// Serve runs a silent lite server until the test ends.
func Serve(t testing.TB, d liteserver.Dependencies) *liteserver.Component {
	t.Helper()
	c := liteserver.DefaultConfiguration()
	c.Key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	d.Report = report.Silent()
	server, err := liteserver.New(c, d)
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, server)
	return server
}

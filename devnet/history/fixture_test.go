package history

import (
	"bytes"
	"testing"

	"tonscribe/devnet/chain"
	"tonscribe/test/support/historytest"
)

// open opens a store that is closed with the test.
func open(t testing.TB, dir string, options Options) *Store {
	t.Helper()
	s, err := Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// filled opens a store in dir and appends all bundles.
func filled(t testing.TB, dir string, options Options, c historytest.Chain) *Store {
	t.Helper()
	s := open(t, dir, options)
	if err := s.SetZerostates(c.Zerostates...); err != nil {
		t.Fatal(err)
	}
	for _, b := range c.Bundles {
		if err := s.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// sameHead fails unless got is the head that the bundle leaves.
func sameHead(t testing.TB, got chain.Head, want *chain.Bundle) {
	t.Helper()
	if !got.Master.ID.Equals(want.Master.ID) {
		t.Fatalf("head: got %s, want %s", Name(got.Master.ID), Name(want.Master.ID))
	}
	if g, w := got.Master.State.HashKey(), want.Master.State.HashKey(); g != w {
		t.Errorf("state of %s: got %x, want %x", Name(want.Master.ID), g, w)
	}
	tops := historytest.Tops(t, want.Master.Root)
	if g, w := appendIDs(nil, idsOf(got.Shards)), appendIDs(nil, tops); !bytes.Equal(g, w) {
		t.Errorf("shards of the head: got %x, want %x", g, w)
	}
}

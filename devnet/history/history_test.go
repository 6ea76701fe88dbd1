package history

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/test/support/historytest"
)

func TestEveryStateIsFoundAfterReopeningWhateverWasKept(t *testing.T) {
	c := historytest.Load(t)
	for _, o := range []Options{
		{Recent: 1, SnapshotEvery: 1000, States: 1, CacheBytes: 1}, // zerostates and updates only
		{Recent: 2, SnapshotEvery: 4, States: 2},
		{},
	} {
		dir := t.TempDir()
		if err := filled(t, dir, o, c).Close(); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir, o)
		for _, b := range c.Bundles {
			for _, want := range blocksOf(b) {
				state, err := s.State(want.ID)
				if err != nil {
					t.Fatalf("%+v: %v", o, err)
				}
				if g, w := state.HashKey(), want.State.HashKey(); g != w {
					t.Fatalf("%+v: state of %s: got %x, want %x", o, Name(want.ID), g, w)
				}
			}
		}
	}
}

func TestBlocksComeBackByteForByteByEveryIndex(t *testing.T) {
	c := historytest.Load(t)
	dir := t.TempDir()
	filled(t, dir, Options{Recent: 4}, c).Close()
	s := open(t, dir, Options{Recent: 4})
	for _, b := range c.Bundles {
		for _, want := range blocksOf(b) {
			id := want.ID
			got, err := s.Block(id)
			if err != nil {
				t.Fatal(err)
			}
			data, err := s.Data(id)
			if err != nil || !bytes.Equal(data, want.Data) || !bytes.Equal(got.Data, want.Data) {
				t.Fatalf("%s: got %d and %d bytes (%v), want %d", Name(id), len(data), len(got.Data), err, len(want.Data))
			}
			if g, w := len(got.Transactions), len(want.Transactions); g != w {
				t.Errorf("%s: transactions: got %d, want %d", Name(id), g, w)
			}
			prefix := uint64(id.Shard)
			meta, err := s.BySeqno(id.Workchain, prefix, id.SeqNo)
			if err != nil || !meta.ID.Equals(id) || meta.MCSeqno != b.Master.ID.SeqNo {
				t.Errorf("by seqno: got %+v (%v), want %s of bundle %d", meta, err, Name(id), b.Master.ID.SeqNo)
			}
			for _, lt := range []uint64{want.StartLT, want.EndLT} {
				if meta, err = s.ByLT(id.Workchain, prefix, lt); err != nil || !meta.ID.Equals(id) {
					t.Errorf("by lt %d: got %+v (%v), want %s", lt, meta, err, Name(id))
				}
			}
			if meta, err = s.ByUtime(id.Workchain, prefix, want.GenUtime); err != nil || meta.GenUtime != want.GenUtime {
				t.Errorf("by time %d: got %+v (%v)", want.GenUtime, meta, err)
			}
			for _, tx := range want.Transactions {
				in, cl, err := s.Transaction(tx.Workchain, tx.Account, tx.LT)
				if err != nil || !in.Equals(id) || cl.HashKey() != tx.Hash {
					t.Errorf("transaction %x %d: got %v (%v)", tx.Account, tx.LT, in, err)
				}
			}
		}
		if set, err := s.Signatures(b.Master.ID.SeqNo); err != nil || !reflect.DeepEqual(set, b.SignatureSet()) {
			t.Errorf("signatures of %d: got %v (%v), want %v", b.Master.ID.SeqNo, set, err, b.SignatureSet())
		}
		again, err := s.Bundle(b.Master.ID.SeqNo)
		if err != nil || len(again.Shards) != len(b.Shards) {
			t.Fatalf("bundle %d: got %v (%v), want %d shard blocks", b.Master.ID.SeqNo, again, err, len(b.Shards))
		}
	}
}

func TestAnAccountPrefixIsFollowedOverASplit(t *testing.T) {
	c := historytest.Load(t)
	s := filled(t, t.TempDir(), Options{}, c)
	depths := map[int]bool{}
	for _, prefix := range []uint64{0, 0x1234567812345678, 1 << 63, ^uint64(0)} {
		for seqno := uint32(1); ; seqno++ {
			meta, err := s.BySeqno(0, prefix, seqno)
			if errors.Is(err, ErrNotFound) {
				if seqno < 30 {
					t.Errorf("prefix %x: no block of seqno %d", prefix, seqno)
				}
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if !keyOf(meta.ID).contains(0, prefix) {
				t.Errorf("prefix %x: got %s", prefix, Name(meta.ID))
			}
			depths[keyOf(meta.ID).depth()] = true
		}
	}
	if len(depths) < 2 {
		t.Errorf("shard depths: got %v, want a split", depths)
	}
}

func TestTheUnknownIsNotFound(t *testing.T) {
	c := historytest.Load(t)
	s := filled(t, t.TempDir(), Options{}, c)
	head := c.Bundles[len(c.Bundles)-1].Master
	wrong := head.ID.Copy()
	wrong.FileHash[0] ^= 1
	for name, ask := range map[string]func() error{
		"block of another hash": func() error { _, err := s.Block(wrong); return err },
		"data of another hash":  func() error { _, err := s.Data(wrong); return err },
		"state of another hash": func() error { _, err := s.State(wrong); return err },
		"zerostate":             func() error { _, err := s.State(&ton.BlockIDExt{Workchain: -1, Shard: -1 << 63}); return err },
		"seqno":                 func() error { _, err := s.BySeqno(-1, 1<<63, head.ID.SeqNo+1); return err },
		"seqno 0":               func() error { _, err := s.BySeqno(-1, 1<<63, 0); return err },
		"lt":                    func() error { _, err := s.ByLT(-1, 1<<63, head.EndLT+1); return err },
		"time":                  func() error { _, err := s.ByUtime(-1, 1<<63, head.GenUtime+1); return err },
		"workchain":             func() error { _, err := s.ByLT(5, 1<<63, 0); return err },
		"bundle":                func() error { _, err := s.Bundle(0); return err },
		"transaction":           func() error { _, _, err := s.Transaction(0, [32]byte{}, 1); return err },
	} {
		if err := ask(); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v, want %v", name, err, ErrNotFound)
		}
	}
}

func TestOnlyTheNextBundleOfThisChainIsTaken(t *testing.T) {
	c := historytest.Load(t)
	s := open(t, t.TempDir(), Options{})
	if err := s.Append(c.Bundles[0]); err == nil {
		t.Error("a bundle before the zerostates: got nil, want an error")
	}
	if err := s.SetZerostates(c.Zerostates...); err != nil {
		t.Fatal(err)
	}
	if err := s.SetZerostates(c.Zerostates...); err != nil {
		t.Errorf("the same zerostates again: got %v, want nil", err)
	}
	other := *c.Zerostates[0]
	other.ID = other.ID.Copy()
	other.ID.FileHash[3] ^= 1
	if err := s.SetZerostates(&other); err == nil || !strings.Contains(err.Error(), "another data folder") {
		t.Errorf("another zerostate: got %v", err)
	}
	if err := s.Append(c.Bundles[1]); err == nil {
		t.Error("a gap: got nil, want an error")
	}
	if err := s.Append(c.Bundles[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(c.Bundles[0]); err == nil {
		t.Error("the same bundle again: got nil, want an error")
	}
}

func TestWaitReturnsWithTheBundleOrTheContext(t *testing.T) {
	c := historytest.Load(t)
	s := open(t, t.TempDir(), Options{})
	if err := s.SetZerostates(c.Zerostates...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- s.Wait(t.Context(), 2) }()
	for _, b := range c.Bundles[:2] {
		if err := s.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err != nil || s.Last() != 2 {
		t.Errorf("got %v at %d, want nil at 2", err, s.Last())
	}
	go func() { ended <- s.Wait(ctx, 3) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestStoredStatesStayFewAndNearEnough(t *testing.T) {
	const every, length = 10, 200_000
	var points []uint32
	for seqno := uint32(every); seqno <= length; seqno += every {
		points = append(points, seqno)
		drop := needless(points, seqno)
		kept := points[:0:0]
		for _, p := range points {
			if !drop[p] {
				kept = append(kept, p)
			}
		}
		points = kept
	}
	if len(points) > 120 {
		t.Errorf("stored states after %d bundles: got %d, want at most 120", length, len(points))
	}
	before := uint32(0)
	for _, p := range points {
		if gap, age := p-before, length-p; gap > every && gap > age/ageShare+every {
			t.Errorf("from %d to %d are %d bundles, want at most %d", before, p, gap, age/ageShare+every)
		}
		before = p
	}
	if last := points[len(points)-1]; last != length {
		t.Errorf("newest: got %d, want %d", last, length)
	}
}

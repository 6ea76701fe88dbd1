package history

import (
	"bytes"
	"testing"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/traffic"
)

const (
	splitAt = 8
	mergeAt = 24
	length  = 48
)

// lively is a chain with traffic that splits and merges.
type lively struct {
	options chain.Options
	traffic *traffic.Traffic
}

func newLively() lively {
	town := traffic.New(7, traffic.Options{Wallets: 20})
	return lively{traffic: town, options: chain.Options{Seed: 7, GenUtime: 1_700_000_000, Accounts: town.Accounts(), Params: town.Params(), ShardBlocks: 2}}
}

// step makes the next bundle.
func (l lively) step(t testing.TB, c *chain.Chain) *chain.Bundle {
	t.Helper()
	master, shards := c.Head()
	seqno := master.ID.SeqNo + 1
	now := l.options.GenUtime + seqno
	messages, err := l.traffic.Next(c, seqno, now, 20)
	if err != nil {
		t.Fatal(err)
	}
	if seqno >= splitAt && len(shards) == 2 && seqno < mergeAt {
		err = c.Split(uint64(shards[0].ID.Shard))
	}
	if seqno >= mergeAt && len(shards) == 3 {
		err = c.Merge(uint64(shards[0].ID.Shard))
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Step(now, messages)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// make makes a whole chain.
func (l lively) make(t testing.TB) (zero []*chain.Zerostate, bundles []*chain.Bundle) {
	t.Helper()
	c, err := chain.New(l.options)
	if err != nil {
		t.Fatal(err)
	}
	master, base := c.Zerostates()
	most, last := 0, 0
	for range length {
		b := l.step(t, c)
		_, shards := c.Head()
		most, last = max(most, len(shards)), len(shards)
		bundles = append(bundles, b)
	}
	if most != 3 || last != 2 {
		t.Fatalf("shards: got at most %d and %d at the end, want 3 and 2", most, last)
	}
	return []*chain.Zerostate{master, base}, bundles
}

func TestStatesOverASplitAndAMergeAreDerived(t *testing.T) {
	zero, bundles := newLively().make(t)
	dir := t.TempDir()
	o := Options{Recent: 1, States: 1, SnapshotEvery: 10_000, CacheBytes: 1}
	s := open(t, dir, o)
	if err := s.SetZerostates(zero...); err != nil {
		t.Fatal(err)
	}
	for _, b := range bundles {
		if err := s.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	s = open(t, dir, o)
	for _, b := range bundles {
		for _, want := range blocksOf(b) {
			state, err := s.State(want.ID)
			if err != nil || state.HashKey() != want.State.HashKey() {
				t.Fatalf("state of %s: %v", Name(want.ID), err)
			}
			for _, tx := range want.Transactions {
				id, root, err := s.Transaction(tx.Workchain, tx.Account, tx.LT)
				if err != nil || !id.Equals(want.ID) || root.HashKey() != tx.Hash {
					t.Fatalf("transaction %x %d: got %v (%v)", tx.Account, tx.LT, id, err)
				}
			}
		}
	}
}

func TestAChainGoesOnFromTheStoreAsIfNeverStopped(t *testing.T) {
	narrow := newLively()
	narrow.options.MaxBlockGas = 6_000 // messages have to wait for the next block
	for name, l := range map[string]lively{"wide blocks": newLively(), "narrow blocks": narrow} {
		t.Run(name, func(t *testing.T) { goOnFromTheStore(t, l) })
	}
}

func goOnFromTheStore(t *testing.T, l lively) {
	zero, bundles := l.make(t)
	dir := t.TempDir()
	o := Options{Recent: 2, SnapshotEvery: 5}
	left := 0
	for at := 0; at < length; {
		s := open(t, dir, o)
		if err := s.SetZerostates(zero...); err != nil {
			t.Fatal(err)
		}
		head, _, err := s.Head()
		if err != nil {
			t.Fatal(err)
		}
		left += len(head.Pending)
		c, err := chain.Resume(l.options, head)
		if err != nil {
			t.Fatalf("resume at %d: %v", at, err)
		}
		for range 1 + at%4 {
			if at == length {
				break
			}
			b := l.step(t, c)
			if want := bundles[at]; !bytes.Equal(b.Master.Data, want.Master.Data) {
				t.Fatalf("bundle %d after resuming: got block %x, want %x", at+1, b.Master.ID.RootHash, want.Master.ID.RootHash)
			}
			if err := s.Append(b); err != nil {
				t.Fatal(err)
			}
			at++
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if narrow := l.options.MaxBlockGas != 0; narrow != (left > 0) {
		t.Errorf("%d messages were left for later blocks, narrow blocks: %v", left, narrow)
	}
}

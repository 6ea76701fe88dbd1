package chain

import (
	"math/rand/v2"
	"testing"
)

func TestTheFirstHopIsTheDestinationsShard(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 20000 {
		depth := r.UintN(maxSplit + 1)
		shardAt := func(prefix uint64) shardID {
			low := uint64(1) << (63 - depth)
			return shardID{basechain, prefix&^(low|(low-1)) | low}
		}
		src, dst := hop{basechain, r.Uint64()}, hop{basechain, r.Uint64()}
		from, want := shardAt(src.prefix), shardAt(dst.prefix)
		current, next := route(src, dst, from)
		if at := src.toward(dst, uint(current)); !from.holds(at.workchain, at.prefix) {
			t.Fatalf("message from %016x to %016x is at %016x, outside of %s", src.prefix, dst.prefix, at.prefix, from)
		}
		if at := src.toward(dst, uint(next)); !want.holds(at.workchain, at.prefix) {
			t.Fatalf("message from %016x to %016x goes to %016x, outside of %s", src.prefix, dst.prefix, at.prefix, want)
		}
		if from == want && (current != 96 || next != 96) {
			t.Fatalf("message inside of %s has bits %d and %d, want 96", from, current, next)
		}
	}
	if current, next := route(hop{basechain, 5}, hop{masterchain, 9}, shardID{basechain, fullShard}); current != 0 || next != 96 {
		t.Fatalf("to the masterchain: bits %d and %d, want 0 and 96", current, next)
	}
}

func TestShardsKnowTheirFamily(t *testing.T) {
	s := shardID{basechain, 0x6000000000000000}
	for _, c := range []struct{ got, want uint64 }{
		{s.child(false).shard, 0x5000000000000000}, {s.child(true).shard, 0x7000000000000000},
		{s.parent().shard, 0x4000000000000000}, {s.sibling().shard, 0x2000000000000000},
		{s.prefix(), 0x4000000000000000}, {uint64(s.depth()), 2},
	} {
		if c.got != c.want {
			t.Errorf("got %016x, want %016x", c.got, c.want)
		}
	}
	if !s.isRight() || s.sibling().isRight() {
		t.Error("left and right are mixed up")
	}
}

func TestEntriesThatAreCoveredAreDropped(t *testing.T) {
	owner := shardID{basechain, fullShard}
	entry := func(shard uint64, seqno uint32, lt uint64) processed {
		return processed{shard: shard, seqno: seqno, lt: lt}
	}
	left, right := owner.child(false).shard, owner.child(true).shard
	p := processedUpto{owner: owner}.add(entry(left, 5, 100), entry(right, 5, 90))
	p = p.add(entry(fullShard, 6, 95)) // covers the right one, not the later lt on the left
	if len(p.entries) != 2 || p.oldest() != 5 || p.maxLT() != 100 {
		t.Fatalf("entries are %v", p.entries)
	}
	if p = p.add(entry(fullShard, 6, 95), entry(fullShard, 7, 100)); len(p.entries) != 1 {
		t.Fatalf("entries are %v, want one", p.entries)
	}
	half := processedUpto{owner: owner, entries: []processed{entry(left, 5, 100), entry(fullShard, 6, 95)}}.of(owner.child(true))
	if len(half.entries) != 1 || half.entries[0] != entry(right, 6, 95) {
		t.Fatalf("the right half has %v", half.entries)
	}
}

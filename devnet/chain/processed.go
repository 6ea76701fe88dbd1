package chain

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// processedUpto is ProcessedInfo (block.tlb) of a shard: which messages of its
// neighbours it has taken already.
type processedUpto struct {
	owner   shardID
	entries []processed
}

// processed says: of the messages that the state of masterchain block seqno
// shows, those with a next hop in shard and (lt, hash) up to this are taken.
type processed struct {
	shard uint64
	seqno uint32
	lt    uint64
	hash  [32]byte
}

var lastHash = [32]byte(bytes.Repeat([]byte{0xff}, 32))

func loadProcessed(s *cell.Slice, owner shardID) processedUpto {
	p := processedUpto{owner: owner}
	for _, kv := range sure(s.MustLoadDict(96).LoadAll()) {
		p.entries = append(p.entries, processed{
			shard: kv.Key.MustLoadUInt(64), seqno: uint32(kv.Key.MustLoadUInt(32)),
			lt: kv.Value.MustLoadUInt(64), hash: [32]byte(kv.Value.MustLoadSlice(256)),
		})
	}
	return p
}

func (p processedUpto) store(b *cell.Builder) *cell.Builder {
	d := cell.NewDict(96)
	for _, e := range p.entries {
		k := cell.BeginCell().MustStoreUInt(e.shard, 64).MustStoreUInt(uint64(e.seqno), 32).EndCell()
		sure(d, d.SetBuilder(k, cell.BeginCell().MustStoreUInt(e.lt, 64).MustStoreSlice(e.hash[:], 256)))
	}
	return b.MustStoreDict(d)
}

// covers reports whether e makes o superfluous.
func (e processed) covers(o processed, workchain int32) bool {
	return shardID{workchain, e.shard}.contains(shardID{workchain, o.shard}) && e.seqno >= o.seqno &&
		compareOrder(e.lt, e.hash, o.lt, o.hash) >= 0
}

// add takes a new entry in and drops all that it, or another one, covers.
func (p processedUpto) add(entries ...processed) processedUpto {
	all := slices.Concat(p.entries, entries)
	out := processedUpto{owner: p.owner}
	for i, e := range all {
		covered := false
		for j, o := range all {
			// of two equal ones the later stays
			if i != j && o.covers(e, p.owner.workchain) && (!e.covers(o, p.owner.workchain) || j > i) {
				covered = true
			}
		}
		if !covered {
			out.entries = append(out.entries, e)
		}
	}
	return out
}

// of narrows the entries down to a part of the shard.
func (p processedUpto) of(part shardID) processedUpto {
	out := processedUpto{owner: part}
	var kept []processed
	for _, e := range p.entries {
		s := shardID{part.workchain, e.shard}
		switch {
		case s.contains(part):
			e.shard = part.shard
		case !part.contains(s):
			continue
		}
		kept = append(kept, e)
	}
	return out.add(kept...)
}

// oldest is the lowest masterchain seqno that an entry refers to.
func (p processedUpto) oldest() uint32 {
	low := noReference
	for _, e := range p.entries {
		low = min(low, e.seqno)
	}
	return low
}

// maxLT is the highest logical time that an entry reaches.
func (p processedUpto) maxLT() uint64 {
	var high uint64
	for _, e := range p.entries {
		high = max(high, e.lt)
	}
	return high
}

// has reports whether the owner has taken a message. ends knows where the shards
// ended in the state of a masterchain block.
func (p processedUpto) has(m *queued, ends func(seqno uint32, at hop) (uint64, error)) (bool, error) {
	for _, e := range p.entries {
		if !(shardID{p.owner.workchain, e.shard}).holds(m.next.workchain, m.next.prefix) ||
			compareOrder(m.lt, m.hash, e.lt, e.hash) > 0 {
			continue
		}
		if p.owner.holds(m.current.workchain, m.current.prefix) && (shardID{p.owner.workchain, e.shard}).holds(m.current.workchain, m.current.prefix) {
			return true, nil // its own message needs no masterchain block to be seen
		}
		end, err := ends(e.seqno, m.current)
		if err != nil {
			return false, err
		}
		if m.lt < end {
			return true, nil
		}
	}
	return false, nil
}

func compareOrder(lt1 uint64, hash1 [32]byte, lt2 uint64, hash2 [32]byte) int {
	return cmp.Or(cmp.Compare(lt1, lt2), bytes.Compare(hash1[:], hash2[:]))
}

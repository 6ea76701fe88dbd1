package ingest

import (
	"slices"
	"testing"

	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

func genesis(t *testing.T) string {
	return realdata.Path(t, "blocks/mainnet_genesis_mc1-199")
}

func packs(t *testing.T) string { return realdata.Path(t, "packs/mylocalton_mc1-264") }

func TestGenesisGivesExactlyTheListedBlocks(t *testing.T) {
	want := listed(t, "mainnet_genesis_mc1-199")
	log := newTape(1)
	publish(t, configure("files:"+genesis(t), 1, 60), log)
	records := log.read(t, 0)
	for _, r := range records {
		b := r.GetRawBlock()
		if b == nil {
			continue
		}
		if id := want[blockIDOf(b.Id)]; id != FormatID(b.Id) {
			t.Errorf("bundle %d holds %s, listed is %q", r.McSeqno, FormatID(b.Id), id)
		}
		delete(want, blockIDOf(b.Id))
	}
	tips := records[len(records)-1].GetSeal().Shards
	for at, id := range want {
		beyond := func(tip *record.BlockId) bool { return tip.Shard == at.shard && at.seqno > tip.Seqno }
		if !slices.ContainsFunc(tips, beyond) { // the folder holds two blocks more of each shard
			t.Errorf("block %s was not published", id)
		}
	}
	if got := bundles(records); len(got) != 60 || got[0] != 1 || got[59] != 60 {
		t.Errorf("bundles %v, want 1 to 60", got)
	}
	checkStream(t, records)
}

func TestArchiveIsPublishedWhole(t *testing.T) {
	for _, to := range []uint32{190, 199} {
		log := newTape(1)
		publish(t, configure("archive:"+packs(t), 1, to), log)
		records := log.read(t, 0)
		if got := bundles(records); len(got) != int(to) {
			t.Errorf("%d bundles, want %d", len(got), to)
		}
		checkStream(t, records)
		splits := func(r *record.Record) bool { return len(r.GetSeal().GetShards()) == 2 }
		if at := slices.IndexFunc(records, splits); at < 0 || records[at].McSeqno != 93 {
			t.Errorf("the first bundle with two shards is %v, want 93", records[max(at, 0)].McSeqno)
		}
	}
}

// checkStream tests what holds of every stream of one partition without gaps.
func checkStream(t *testing.T, records []*record.Record) {
	t.Helper()
	seen := map[blockKey]bool{}
	newest := map[uint64]uint32{}
	var prev uint32
	var open []*record.BlockId
	for _, r := range records {
		if r.PrevMcSeqno != prev {
			t.Errorf("bundle %d names %d as its predecessor, not %d", r.McSeqno, r.PrevMcSeqno, prev)
		}
		seal := r.GetSeal()
		if seal == nil {
			id := r.GetRawBlock().Id
			if seen[keyOf(id)] {
				t.Errorf("block %s is published twice", blockIDOf(id))
			}
			seen[keyOf(id)] = true
			open = append(open, id)
			continue
		}
		if seal.Rows != uint64(len(open)) {
			t.Errorf("bundle %d: seal of %d rows after %d blocks", r.McSeqno, seal.Rows, len(open))
		}
		if !slices.IsSortedFunc(open, compareIDs) {
			t.Errorf("bundle %d: blocks are not in order", r.McSeqno)
		}
		if last := open[len(open)-1]; !sameID(last, seal.Master) || last.Seqno != r.McSeqno {
			t.Errorf("bundle %d ends with %s, its seal names %s", r.McSeqno, blockIDOf(last), blockIDOf(seal.Master))
		}
		for _, tip := range seal.Shards {
			if tip.Seqno != 0 && !seen[keyOf(tip)] {
				t.Errorf("bundle %d: shard tip %s was not published", r.McSeqno, blockIDOf(tip))
			}
			newest[tip.Shard] = tip.Seqno
		}
		prev, open = r.McSeqno, nil
	}
}

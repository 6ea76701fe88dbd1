package synthetic

import "tonscribe/schema/record"

// block is the header of one of the three blocks of a bundle.
func (r *Rows) block(b *Bundle, workchain int32, shard, lt uint64, transactions int) *record.Block {
	seqno, masterRef := firstShard+uint32(r.bundles), b.Seqno-1
	if workchain == -1 {
		seqno, masterRef = b.Seqno, 0
	}
	block := &record.Block{
		Id: r.blockID(workchain, shard, seqno, r.bundles), McSeqno: b.Seqno, GlobalId: -239,
		Flags: 1, GenUtime: b.Utime, StartLt: lt, EndLt: lt + ltPerBundle - 1,
		ValidatorListHashShort: int32(mix(r.seed)), GenCatchainSeqno: uint32(r.bundles / 1000), MinRefMcSeqno: b.Seqno - 1,
		PrevKeyBlockSeqno: firstMaster - 1, MasterRefSeqno: masterRef, TxCount: uint32(transactions),
		PrevBlocks:         []*record.BlockId{r.blockID(workchain, shard, seqno-1, r.bundles-1)},
		GenSoftwareVersion: 11, GenSoftwareCapabilities: 494,
		RandSeed:  seededHash(r.seed, kindRowRandSeed, blockNumber(workchain, shard, r.bundles)),
		CreatedBy: seededHash(r.seed, kindCreator, mix(uint64(seqno))%100), // a hundred validators take turns
	}
	if workchain == -1 {
		for _, shard := range b.Blocks {
			block.Shards = append(block.Shards, &record.BlockId{Workchain: shard.Id.Workchain, Shard: shard.Id.Shard, Seqno: shard.Id.Seqno})
		}
	}
	return block
}

func (r *Rows) blockID(workchain int32, shard uint64, seqno uint32, bundle int) *record.BlockId {
	number := blockNumber(workchain, shard, bundle)
	return &record.BlockId{
		Workchain: workchain, Shard: shard, Seqno: seqno,
		RootHash: seededHash(r.seed, kindRootHash, number), FileHash: seededHash(r.seed, kindFileHash, number),
	}
}

// blockNumber counts all blocks: three a bundle, and those before the first.
func blockNumber(workchain int32, shard uint64, bundle int) uint64 {
	n := uint64(bundle+1) * 3
	switch {
	case workchain == -1:
		return n + 2
	case shard>>63 == 1:
		return n + 1
	}
	return n
}

package render

import (
	"tonscribe/query/api"
	"tonscribe/schema/record"
)

// The shard of masterchain blocks.
const masterShard = 1 << 63

// blockName names a block.
type blockName struct {
	workchain int32
	shard     uint64
	seqno     uint32
}

var blockID = api.New("BlockID",
	api.Int32("workchain", func(b blockName) int32 { return b.workchain }),
	api.Shard("shard", func(b blockName) uint64 { return b.shard }),
	api.Uint32("seqno", func(b blockName) uint32 { return b.seqno }),
)

// Block is a block.
var Block = api.New("Block",
	api.Int32("workchain", func(b block) int32 { return b.GetId().GetWorkchain() }),
	api.Shard("shard", func(b block) uint64 { return b.GetId().GetShard() }),
	api.Uint32("seqno", func(b block) uint32 { return b.GetId().GetSeqno() }),
	api.Hash("root_hash", func(b block) []byte { return b.GetId().GetRootHash() }),
	api.Hash("file_hash", func(b block) []byte { return b.GetId().GetFileHash() }),
	api.Int32("global_id", block.GetGlobalId).Doc("network: -239 is the main one, -3 the test one"),
	api.Int64("version", block.GetVersion),
	api.Bool("after_merge", block.GetAfterMerge),
	api.Bool("before_split", block.GetBeforeSplit),
	api.Bool("after_split", block.GetAfterSplit),
	api.Bool("want_merge", block.GetWantMerge),
	api.Bool("want_split", block.GetWantSplit),
	api.Bool("key_block", block.GetKeyBlock),
	api.Bool("vert_seqno_incr", block.GetVertSeqnoIncr),
	api.Int64("flags", block.GetFlags),
	api.Decimal("gen_utime", block.GetGenUtime),
	api.Decimal("start_lt", block.GetStartLt),
	api.Decimal("end_lt", block.GetEndLt),
	api.Int32("validator_list_hash_short", block.GetValidatorListHashShort),
	api.Int64("gen_catchain_seqno", block.GetGenCatchainSeqno),
	api.Int64("min_ref_mc_seqno", block.GetMinRefMcSeqno),
	api.Int64("prev_key_block_seqno", block.GetPrevKeyBlockSeqno),
	api.Int64("vert_seqno", block.GetVertSeqno),
	api.Int64("master_ref_seqno", block.GetMasterRefSeqno).Doc("0 for masterchain blocks"),
	api.Hash("rand_seed", block.GetRandSeed),
	api.Hash("created_by", block.GetCreatedBy),
	api.Int64("tx_count", block.GetTxCount),
	api.Object("masterchain_block_ref", blockID, func(b block) blockName { return blockName{-1, masterShard, b.McSeqno} }, nil).
		Doc("the masterchain block that commits it"),
	api.List("prev_blocks", blockID, block.GetPrevBlocks, func(b *record.BlockId) blockName { return blockName{b.Workchain, b.Shard, b.Seqno} }).
		Doc("the block before, two after a merge"),
)

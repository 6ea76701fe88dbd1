package render

import "tonscribe/schema/record"

// The shard of masterchain blocks.
const masterShard = 1 << 63

// Block appends a block (contract 3.6).
func Block(dst []byte, b *record.Block) []byte {
	id := b.GetId()
	o := open(dst)
	o.int("workchain", int64(id.GetWorkchain()))
	o.key("shard")
	o.dst = Shard(o.dst, id.GetShard())
	o.int("seqno", int64(id.GetSeqno()))
	o.hash("root_hash", id.GetRootHash())
	o.hash("file_hash", id.GetFileHash())
	o.int("global_id", int64(b.GlobalId))
	o.int("version", int64(b.Version))
	o.bool("after_merge", b.AfterMerge)
	o.bool("before_split", b.BeforeSplit)
	o.bool("after_split", b.AfterSplit)
	o.bool("want_merge", b.WantMerge)
	o.bool("want_split", b.WantSplit)
	o.bool("key_block", b.KeyBlock)
	o.bool("vert_seqno_incr", b.VertSeqnoIncr)
	o.int("flags", int64(b.Flags))
	o.decimal("gen_utime", uint64(b.GenUtime))
	o.decimal("start_lt", b.StartLt)
	o.decimal("end_lt", b.EndLt)
	o.int("validator_list_hash_short", int64(b.ValidatorListHashShort))
	o.int("gen_catchain_seqno", int64(b.GenCatchainSeqno))
	o.int("min_ref_mc_seqno", int64(b.MinRefMcSeqno))
	o.int("prev_key_block_seqno", int64(b.PrevKeyBlockSeqno))
	o.int("vert_seqno", int64(b.VertSeqno))
	o.int("master_ref_seqno", int64(b.MasterRefSeqno))
	o.hash("rand_seed", b.RandSeed)
	o.hash("created_by", b.CreatedBy)
	o.int("tx_count", int64(b.TxCount))
	o.key("masterchain_block_ref")
	o.dst = blockID(o.dst, -1, masterShard, b.McSeqno)
	o.key("prev_blocks")
	o.dst = append(o.dst, '[')
	for i, prev := range b.PrevBlocks {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = blockID(o.dst, prev.Workchain, prev.Shard, prev.Seqno)
	}
	o.dst = append(o.dst, ']')
	return o.close()
}

// blockID appends a BlockId (contract 3.7).
func blockID(dst []byte, workchain int32, shard uint64, seqno uint32) []byte {
	o := open(dst)
	o.int("workchain", int64(workchain))
	o.key("shard")
	o.dst = Shard(o.dst, shard)
	o.int("seqno", int64(seqno))
	return o.close()
}

-- Where the block (workchain, shard, seqno) lies in blocks.
{{create "blocks_by_id"}} (
    workchain Int32 CODEC(ZSTD(1)),
    shard     UInt64 CODEC(ZSTD(1)),
    seqno     UInt32 CODEC(Delta, ZSTD(1)),
    mc_seqno  UInt32 CODEC(Delta, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (workchain, shard, seqno, mc_seqno)
{{settings "index"}};
{{distribute "blocks_by_id" "mc_seqno"}}

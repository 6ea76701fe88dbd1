-- Blocks in the order of their start lt.
{{create "blocks_by_lt"}} (
    start_lt  UInt64 CODEC(Delta, ZSTD(1)),
    workchain Int32 CODEC(ZSTD(1)),
    shard     UInt64 CODEC(ZSTD(1)),
    seqno     UInt32 CODEC(Delta, ZSTD(1)),
    mc_seqno  UInt32 CODEC(Delta, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (start_lt, workchain, shard, seqno, mc_seqno)
{{settings "index"}};
{{distribute "blocks_by_lt" "mc_seqno"}}

-- Blocks in the order of their time.
{{create "blocks_by_utime"}} (
    gen_utime UInt32 CODEC(Delta, ZSTD(1)),
    workchain Int32 CODEC(ZSTD(1)),
    shard     UInt64 CODEC(ZSTD(1)),
    seqno     UInt32 CODEC(Delta, ZSTD(1)),
    mc_seqno  UInt32 CODEC(Delta, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (gen_utime, workchain, shard, seqno, mc_seqno)
{{settings "index"}};
{{distribute "blocks_by_utime" "mc_seqno"}}

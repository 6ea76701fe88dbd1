-- Where a block lies, by the first 8 bytes of its root hash or file hash: two rows for each block.
{{create "blocks_by_hash"}} (
    hash_prefix UInt64 CODEC(Delta, ZSTD(1)),
    mc_seqno    UInt32 CODEC(T64, ZSTD(1)),
    workchain   Int32 CODEC(ZSTD(1)),
    shard       UInt64 CODEC(ZSTD(1)),
    seqno       UInt32 CODEC(T64, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (hash_prefix, mc_seqno, workchain, shard, seqno)
{{settings "index"}};
{{distribute "blocks_by_hash" "mc_seqno"}}

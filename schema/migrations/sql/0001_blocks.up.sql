-- Every block, in the order of the chain. record is the protobuf Block (schema/record). tx_count
-- counts the block's transactions.
{{create "blocks"}} (
    mc_seqno  UInt32 CODEC(Delta, ZSTD(1)),
    workchain Int32 CODEC(ZSTD(1)),
    shard     UInt64 CODEC(ZSTD(1)),
    seqno     UInt32 CODEC(Delta, ZSTD(1)),
    gen_utime UInt32 CODEC(Delta, ZSTD(1)),
    start_lt  UInt64 CODEC(Delta, ZSTD(1)),
    end_lt    UInt64 CODEC(Delta, ZSTD(1)),
    root_hash FixedString(32) CODEC(NONE),
    file_hash FixedString(32) CODEC(NONE),
    tx_count  UInt32 CODEC(T64, ZSTD(1)),
    key_block Bool CODEC(ZSTD(1)),
    global_id Int32 CODEC(ZSTD(1)),
    record    String CODEC(ZSTD(3))
) ENGINE = {{engine}}
PRIMARY KEY mc_seqno
ORDER BY (mc_seqno, workchain, shard, seqno)
{{settings "records"}};
{{distribute "blocks" "mc_seqno"}}

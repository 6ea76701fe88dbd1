-- The transactions of a masterchain block's bundle, newest of the chain last.
{{create "transactions_by_mc_seqno"}} (
    mc_seqno       UInt32 CODEC(Delta, ZSTD(1)),
    lt             UInt64 CODEC(Delta, ZSTD(1)),
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(ZSTD(1)),
    shard          UInt64 CODEC(ZSTD(1)),
    block_seqno    UInt32 CODEC(T64, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (mc_seqno, lt, workchain, account_prefix)
{{settings "index"}};
{{distribute "transactions_by_mc_seqno" "account_prefix"}}

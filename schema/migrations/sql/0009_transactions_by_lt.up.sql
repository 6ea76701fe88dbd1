-- Transactions in the order of their lt.
{{create "transactions_by_lt"}} (
    lt             UInt64 CODEC(Delta, ZSTD(1)),
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(ZSTD(1)),
    mc_seqno       UInt32 CODEC(Delta, ZSTD(1)),
    shard          UInt64 CODEC(ZSTD(1)),
    block_seqno    UInt32 CODEC(T64, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (lt, workchain, account_prefix)
{{settings "index"}};
{{distribute "transactions_by_lt" "account_prefix"}}

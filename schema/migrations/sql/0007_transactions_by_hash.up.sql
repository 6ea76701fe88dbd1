-- Where a transaction lies in transactions, by the first 8 bytes of its hash.
{{create "transactions_by_hash"}} (
    hash_prefix    UInt64 CODEC(Delta, ZSTD(1)),
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(ZSTD(1)),
    lt             UInt64 CODEC(T64, ZSTD(1)),
    mc_seqno       UInt32 CODEC(T64, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (hash_prefix, lt, workchain, account_prefix)
{{settings "index"}};
{{distribute "transactions_by_hash" "account_prefix"}}

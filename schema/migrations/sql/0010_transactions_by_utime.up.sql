-- Transactions in the order of their time, those of one second in the order of their lt.
{{create "transactions_by_utime"}} (
    now            UInt32 CODEC(Delta, ZSTD(1)),
    lt             UInt64 CODEC(Delta, ZSTD(1)),
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(ZSTD(1)),
    mc_seqno       UInt32 CODEC(Delta, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (now, lt, workchain, account_prefix)
{{settings "index"}};
{{distribute "transactions_by_utime" "account_prefix"}}

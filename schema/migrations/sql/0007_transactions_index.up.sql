-- Where transactions lie in transactions, by each way to look for them:
--   hash      key is the first 8 bytes of the hash
--   mc_seqno  key is the masterchain block's seqno: the transactions of a bundle, in the order of
--             their lt
--   lt        in the order of lt; key is 0
--   utime     key is now, those of one second in the order of their lt
-- shard and block_seqno are 0 but in mc_seqno and lt. What follows them is 0 but in utime, and is
-- what the days' figures are made of: whether a transaction was aborted, and what it paid, in
-- nanotons. forward_fees is all that its outbound messages pay, action_fees the part of it that the
-- transaction keeps.
{{create "transactions_index"}} (
    path           Enum8('hash' = 1, 'mc_seqno' = 2, 'lt' = 3, 'utime' = 4),
    key            UInt64 CODEC(Delta, ZSTD(1)),
    lt             UInt64 CODEC(Delta, ZSTD(1)),
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(ZSTD(1)),
    mc_seqno       UInt32 CODEC(Delta, ZSTD(1)),
    shard          UInt64 CODEC(ZSTD(1)),
    block_seqno    UInt32 CODEC(T64, ZSTD(1)),
    aborted        Bool CODEC(ZSTD(1)),
    total_fees     UInt64 CODEC(T64, ZSTD(1)),
    storage_fees   UInt64 CODEC(T64, ZSTD(1)),
    gas_fees       UInt64 CODEC(T64, ZSTD(1)),
    action_fees    UInt64 CODEC(T64, ZSTD(1)),
    forward_fees   UInt64 CODEC(T64, ZSTD(1))
) ENGINE = {{engine}}
PRIMARY KEY (path, key, lt)
ORDER BY (path, key, lt, workchain, account_prefix)
{{settings "index"}};
{{distribute "transactions_index" "account_prefix"}}

-- Ends of all messages in the order of the messages' time, external-in messages first. (workchain,
-- account_prefix, lt) is the transaction that holds the end, direction 0 = it consumed the
-- message, 1 = it produced it. created_lt and created_at are 0 for external-in messages.
-- hash_prefix is the first 4 bytes of the message's hash.
{{create "messages_by_utime"}} (
    created_at     UInt32 CODEC(Delta, ZSTD(1)),
    hash_prefix    UInt32 CODEC(ZSTD(1)),
    created_lt     UInt64 CODEC(Delta, ZSTD(1)),
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(ZSTD(1)),
    lt             UInt64 CODEC(Delta, ZSTD(1)),
    direction      UInt8 CODEC(ZSTD(1)),
    kind           UInt8 CODEC(ZSTD(1)),
    mc_seqno       UInt32 CODEC(Delta, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (created_at, hash_prefix, direction, lt, workchain, account_prefix)
{{settings "index"}};
{{distribute "messages_by_utime" "account_prefix"}}

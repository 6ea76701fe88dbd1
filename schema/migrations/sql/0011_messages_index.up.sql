-- Ends of messages, by each way to look for them but by account:
--   hash    key is the first 8 bytes of the message's hash. norm = 1: of the normalized hash of an
--           external-in message (TEP-467), in a second row. created_lt, created_at and hash_prefix
--           are 0
--   body    key is the first 8 bytes of the body's hash
--   opcode  key is the first 32 bits of a body that has them
--   lt      in the order of created_lt, external-in messages first; key is 0
--   utime   key is created_at in the upper half, hash_prefix in the lower; external-in messages
--           first. created_at and hash_prefix are 0
-- (workchain, account_prefix, lt) is the transaction that holds the end, direction 0 = it consumed
-- the message, 1 = it produced it. created_lt and created_at are 0 for external-in messages.
-- hash_prefix is the first 4 bytes of the message's hash.
{{create "messages_index"}} (
    path           Enum8('hash' = 1, 'body' = 2, 'opcode' = 3, 'lt' = 4, 'utime' = 5),
    key            UInt64 CODEC(Delta, ZSTD(1)),
    created_lt     UInt64 CODEC(Delta, ZSTD(1)),
    hash_prefix    UInt32 CODEC(ZSTD(1)),
    created_at     UInt32 CODEC(Delta, ZSTD(1)),
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(ZSTD(1)),
    lt             UInt64 CODEC(Delta, ZSTD(1)),
    direction      UInt8 CODEC(ZSTD(1)),
    norm           Bool CODEC(ZSTD(1)),
    kind           UInt8 CODEC(ZSTD(1)),
    mc_seqno       UInt32 CODEC(Delta, ZSTD(1))
) ENGINE = {{engine}}
PRIMARY KEY (path, key, created_lt)
ORDER BY (path, key, created_lt, hash_prefix, direction, lt, workchain, account_prefix, norm)
{{settings "index"}};
{{distribute "messages_index" "account_prefix"}}

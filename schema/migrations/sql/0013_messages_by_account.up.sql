-- Ends of messages by account: side 'source' has what an account sent, side 'destination' what was
-- sent to it. near is that account, far the other. External-out messages have no destination: they
-- lie under near_workchain -2147483648, near_prefix 0; external-in messages have no source and no
-- row there. opcode is -1 when the body is shorter than 32 bits. (workchain, account_prefix, lt) is
-- the transaction that holds the end, direction 0 = it consumed the message, 1 = it produced it.
-- created_lt and created_at are 0 for external-in messages. hash_prefix is the first 4 bytes of the
-- message's hash. far_hash is the transaction's hash when it is far's (side 'source' and direction 0,
-- side 'destination' and direction 1), but not in lists of messages to none, and zeros elsewhere: a
-- list names both transactions of a message and reads near's only.
{{create "messages_by_account"}} (
    side           Enum8('destination' = 0, 'source' = 1),
    near_workchain Int32 CODEC(ZSTD(1)),
    near_prefix    UInt64 CODEC(Delta, ZSTD(1)),
    created_lt     UInt64 CODEC(Delta, ZSTD(1)),
    hash_prefix    UInt32 CODEC(ZSTD(1)),
    direction      UInt8 CODEC(ZSTD(1)),
    lt             UInt64 CODEC(Delta, ZSTD(1)),
    far_workchain  Int32 CODEC(ZSTD(1)),
    far_prefix     UInt64 CODEC(ZSTD(1)),
    workchain      Int32 ALIAS if(toUInt8(side) = direction, near_workchain, far_workchain),
    account_prefix UInt64 ALIAS if(toUInt8(side) = direction, near_prefix, far_prefix),
    created_at     UInt32 CODEC(Delta, ZSTD(1)),
    kind           UInt8 CODEC(ZSTD(1)),
    mc_seqno       UInt32 CODEC(Delta, ZSTD(1)),
    opcode         Int64 CODEC(ZSTD(1)),
    far_hash       FixedString(32) CODEC(ZSTD(1))
) ENGINE = {{engine}}
PRIMARY KEY (side, near_workchain, near_prefix, created_lt)
ORDER BY (side, near_workchain, near_prefix, created_lt, hash_prefix, direction, lt, far_workchain, far_prefix)
{{settings "index"}};
{{distribute "messages_by_account" "if(toUInt8(side) = direction, near_prefix, far_prefix)"}}

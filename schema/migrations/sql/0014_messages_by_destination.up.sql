-- Ends of the messages to an account. opcode is -1 when the body is shorter than 32 bits.
-- External-out messages have no destination account: they lie under destination_workchain
-- -2147483648, destination_prefix 0. (workchain, account_prefix, lt) is the transaction that holds
-- the end, direction 0 = it consumed the message, 1 = it produced it. created_lt and created_at
-- are 0 for external-in messages. hash_prefix is the first 4 bytes of the message's hash.
{{create "messages_by_destination"}} (
    destination_workchain Int32 CODEC(ZSTD(1)),
    destination_prefix    UInt64 CODEC(Delta, ZSTD(1)),
    created_lt            UInt64 CODEC(Delta, ZSTD(1)),
    hash_prefix           UInt32 CODEC(ZSTD(1)),
    created_at            UInt32 CODEC(Delta, ZSTD(1)),
    workchain             Int32 ALIAS if(direction = 0, destination_workchain, source_workchain),
    account_prefix        UInt64 ALIAS if(direction = 0, destination_prefix, source_prefix),
    lt                    UInt64 CODEC(Delta, ZSTD(1)),
    direction             UInt8 CODEC(ZSTD(1)),
    kind                  UInt8 CODEC(ZSTD(1)),
    mc_seqno              UInt32 CODEC(Delta, ZSTD(1)),
    source_workchain      Int32 CODEC(ZSTD(1)),
    source_prefix         UInt64 CODEC(ZSTD(1)),
    opcode                Int64 CODEC(ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (destination_workchain, destination_prefix, created_lt, hash_prefix, direction, lt, source_workchain, source_prefix)
{{settings "index"}};
{{distribute "messages_by_destination" "if(direction = 0, destination_prefix, source_prefix)"}}

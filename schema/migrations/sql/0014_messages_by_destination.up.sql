-- Ends of the messages to an account. opcode is -1 when the body is shorter than 32 bits.
-- External-out messages have no destination account: they lie under destination_workchain
-- -2147483648, destination_prefix 0. (workchain, account_prefix, lt) is the transaction that holds
-- the end, direction 0 = it consumed the message, 1 = it produced it. created_lt and created_at
-- are 0 for external-in messages. far_hash is the hash of the sender's transaction in rows of
-- direction 1, zeros in the others.
{{create "messages_by_destination"}} (
    destination_workchain Int32 CODEC(ZSTD(1)),
    destination_prefix    UInt64 CODEC(Delta, ZSTD(1)),
    created_lt            UInt64 CODEC(Delta, ZSTD(1)),
    hash_prefix           UInt64 CODEC(ZSTD(1)),
    created_at            UInt32 CODEC(Delta, ZSTD(1)),
    workchain             Int32 CODEC(ZSTD(1)),
    account_prefix        UInt64 CODEC(ZSTD(1)),
    lt                    UInt64 CODEC(Delta, ZSTD(1)),
    direction             UInt8 CODEC(ZSTD(1)),
    kind                  UInt8 CODEC(ZSTD(1)),
    mc_seqno              UInt32 CODEC(Delta, ZSTD(1)),
    source_workchain      Int32 CODEC(ZSTD(1)),
    source_prefix         UInt64 CODEC(ZSTD(1)),
    opcode                Int64 CODEC(ZSTD(1)),
    far_hash              FixedString(32) CODEC(ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (destination_workchain, destination_prefix, created_lt, hash_prefix, direction, lt, workchain, account_prefix)
{{settings "index"}};
{{distribute "messages_by_destination" "account_prefix"}}

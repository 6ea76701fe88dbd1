-- Ends of the messages that an account sent. opcode is -1 when the body is shorter than 32 bits.
-- (workchain, account_prefix, lt) is the transaction that holds the end, direction 0 = it consumed
-- the message, 1 = it produced it. created_lt and created_at are 0 for external-in messages.
-- hash_prefix is the first 4 bytes of the message's hash.
-- far_hash is the hash of the receiver's transaction in rows of direction 0, zeros in the others:
-- a list of what an account sent names both transactions and reads the account's own only.
{{create "messages_by_source"}} (
    source_workchain      Int32 CODEC(ZSTD(1)),
    source_prefix         UInt64 CODEC(Delta, ZSTD(1)),
    created_lt            UInt64 CODEC(Delta, ZSTD(1)),
    hash_prefix           UInt32 CODEC(ZSTD(1)),
    created_at            UInt32 CODEC(Delta, ZSTD(1)),
    workchain             Int32 ALIAS if(direction = 0, destination_workchain, source_workchain),
    account_prefix        UInt64 ALIAS if(direction = 0, destination_prefix, source_prefix),
    lt                    UInt64 CODEC(Delta, ZSTD(1)),
    direction             UInt8 CODEC(ZSTD(1)),
    kind                  UInt8 CODEC(ZSTD(1)),
    mc_seqno              UInt32 CODEC(Delta, ZSTD(1)),
    destination_workchain Int32 CODEC(ZSTD(1)),
    destination_prefix    UInt64 CODEC(ZSTD(1)),
    opcode                Int64 CODEC(ZSTD(1)),
    far_hash              FixedString(32) CODEC(ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (source_workchain, source_prefix, created_lt, direction, hash_prefix, lt, destination_workchain, destination_prefix)
{{settings "index"}};
{{distribute "messages_by_source" "if(direction = 0, destination_prefix, source_prefix)"}}

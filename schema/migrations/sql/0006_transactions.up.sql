-- Every transaction, in the order of its account. record is the protobuf Transaction
-- (schema/record) with its messages, in the form of schema/stored: it begins with account and hash.
-- All else is for keys, filters and analysts. account_prefix is
-- the first 8 bytes of the account id as a number. Amounts are nanotons. exit_code and gas_used
-- are 0 when the compute phase was skipped, result_code without an action phase. in_msg_opcode is
-- -1 without a message or when its body is shorter than 32 bits. There is one partition only: its
-- expression makes every part remember its range of mc_seqno, so that a lookup which names the
-- bundle reads one part.
{{create "transactions"}} (
    workchain       Int32 CODEC(ZSTD(1)),
    account_prefix  UInt64 CODEC(Delta, ZSTD(1)),
    lt              UInt64 CODEC(Delta, ZSTD(1)),
    account         FixedString(32) CODEC(ZSTD(1)),
    hash            FixedString(32) ALIAS toFixedString(substring(record, 41, 32), 32),
    now             UInt32 CODEC(Delta, ZSTD(1)),
    mc_seqno        UInt32 CODEC(Delta, ZSTD(1)),
    shard           UInt64 CODEC(ZSTD(1)),
    block_seqno     UInt32 CODEC(Delta, ZSTD(1)),
    type            Enum8('ord' = 0, 'storage' = 1, 'tick_tock' = 2, 'split_prepare' = 3, 'split_install' = 4, 'merge_prepare' = 5, 'merge_install' = 6) CODEC(ZSTD(1)),
    orig_status     Enum8('uninit' = 0, 'frozen' = 1, 'active' = 2, 'nonexist' = 3) CODEC(ZSTD(1)),
    end_status      Enum8('uninit' = 0, 'frozen' = 1, 'active' = 2, 'nonexist' = 3) CODEC(ZSTD(1)),
    aborted         Bool CODEC(ZSTD(1)),
    compute_skipped Bool CODEC(ZSTD(1)),
    exit_code       Int32 CODEC(ZSTD(1)),
    gas_used        UInt64 CODEC(T64, ZSTD(1)),
    result_code     Int32 CODEC(ZSTD(1)),
    total_fees      UInt64 CODEC(T64, ZSTD(1)),
    storage_fees    UInt64 CODEC(T64, ZSTD(1)),
    in_msg_kind     Enum8('none' = -1, 'internal' = 0, 'external_in' = 1) CODEC(ZSTD(1)),
    in_msg_value    UInt64 CODEC(T64, ZSTD(1)),
    in_msg_opcode   Int64 CODEC(ZSTD(1)),
    out_msg_count   UInt16 CODEC(ZSTD(1)),
    record          String CODEC(ZSTD(3))
) ENGINE = {{engine}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY (workchain, account_prefix, lt)
ORDER BY (workchain, account_prefix, lt, account)
{{settings "records"}};
{{distribute "transactions" "account_prefix"}}

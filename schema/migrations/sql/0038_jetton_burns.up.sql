-- What jetton wallets were told to burn (TEP-74), in the order of the chain. Columns are those of
-- jetton_transfers; record is the protobuf JettonBurn (schema/record), delivery that of the
-- notification to the master.
{{create "jetton_burns"}} (
    lt                   UInt64 CODEC(Delta, ZSTD(1)),
    workchain            Int32 CODEC(ZSTD(1)),
    account_prefix       UInt64 CODEC(ZSTD(1)),
    account              FixedString(32) CODEC(NONE),
    mc_seqno             UInt32 CODEC(Delta, ZSTD(1)),
    transaction_mc_seqno UInt32 CODEC(Delta, ZSTD(1)),
    now                  UInt32 CODEC(Delta, ZSTD(1)),
    aborted              Bool CODEC(ZSTD(1)),
    delivery             Enum8('in_progress' = 0, 'delivered' = 1, 'refused' = 2, 'returned' = 3, 'not_sent' = 4) CODEC(ZSTD(1)),
    master_workchain     Int32 CODEC(ZSTD(1)),
    master_prefix        UInt64 CODEC(ZSTD(1)),
    master               FixedString(32) CODEC(ZSTD(1)),
    owner_workchain      Int32 CODEC(ZSTD(1)),
    owner_prefix         UInt64 CODEC(ZSTD(1)),
    owner                FixedString(32) CODEC(ZSTD(1)),
    amount               UInt256 CODEC(ZSTD(1)),
    record               String CODEC(ZSTD(3))
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY lt
ORDER BY (lt, workchain, account_prefix)
{{settings "contracts"}};
{{distribute "jetton_burns" "account_prefix"}}

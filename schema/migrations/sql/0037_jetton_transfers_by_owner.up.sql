-- Jetton transfers by the owner that sent or receives them, whole: record is the protobuf
-- JettonTransfer (schema/record). (workchain, account_prefix, lt) is the sending wallet's
-- transaction; direction 0 = the owner receives, 1 = the owner sends. The projection is for lists
-- in the order of time.
{{create "jetton_transfers_by_owner"}} (
    owner_workchain      Int32 CODEC(ZSTD(1)),
    owner_prefix         UInt64 CODEC(Delta, ZSTD(1)),
    lt                   UInt64 CODEC(Delta, ZSTD(1)),
    workchain            Int32 CODEC(ZSTD(1)),
    account_prefix       UInt64 CODEC(ZSTD(1)),
    direction            UInt8 CODEC(ZSTD(1)),
    mc_seqno             UInt32 CODEC(Delta, ZSTD(1)),
    transaction_mc_seqno UInt32 CODEC(Delta, ZSTD(1)),
    now                  UInt32 CODEC(Delta, ZSTD(1)),
    aborted              Bool CODEC(ZSTD(1)),
    master_workchain     Int32 CODEC(ZSTD(1)),
    master_prefix        UInt64 CODEC(ZSTD(1)),
    record               String CODEC(ZSTD(3)),
    PROJECTION by_time (SELECT now, lt, workchain, account_prefix, direction, mc_seqno, transaction_mc_seqno, aborted, owner_workchain, owner_prefix, master_workchain, master_prefix
        ORDER BY owner_workchain, owner_prefix, now, lt, workchain, account_prefix)
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
ORDER BY (owner_workchain, owner_prefix, lt, workchain, account_prefix, direction)
{{settings "states"}};
{{distribute "jetton_transfers_by_owner" "owner_prefix"}}

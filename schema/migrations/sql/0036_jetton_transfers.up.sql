-- What jetton wallets were told to send (TEP-74), in the order of the chain. (workchain,
-- account_prefix, account, lt) is the sending wallet's transaction. record is the protobuf
-- JettonTransfer (schema/record).
-- A transfer comes again when its delivery becomes known: of its rows the one with the greatest
-- mc_seqno counts. delivery: returned = the receiver's transaction was aborted, refused = the
-- sender's was, not_sent = it succeeded and sent nothing of the kind.
{{create "jetton_transfers"}} (
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
    source               FixedString(32) CODEC(ZSTD(1)),
    destination          FixedString(32) CODEC(ZSTD(1)),
    amount               UInt256 CODEC(ZSTD(1)),
    record               String CODEC(ZSTD(3))
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY lt
ORDER BY (lt, workchain, account_prefix)
{{settings "contracts"}};
{{distribute "jetton_transfers" "account_prefix"}}

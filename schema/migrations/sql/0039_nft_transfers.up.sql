-- What NFT items were told (TEP-62 transfer), in the order of the chain. (workchain,
-- account_prefix, account, lt) is the item's transaction. record is the protobuf NFTTransfer
-- (schema/record). No address is workchain -2147483648 and zeros.
{{create "nft_transfers"}} (
    lt                   UInt64 CODEC(Delta, ZSTD(1)),
    workchain            Int32 CODEC(ZSTD(1)),
    account_prefix       UInt64 CODEC(ZSTD(1)),
    account              FixedString(32) CODEC(NONE),
    mc_seqno             UInt32 CODEC(Delta, ZSTD(1)),
    transaction_mc_seqno UInt32 CODEC(Delta, ZSTD(1)),
    now                  UInt32 CODEC(Delta, ZSTD(1)),
    aborted              Bool CODEC(ZSTD(1)),
    collection_workchain Int32 CODEC(ZSTD(1)),
    collection_prefix    UInt64 CODEC(ZSTD(1)),
    collection           FixedString(32) CODEC(ZSTD(1)),
    old_owner_workchain  Int32 CODEC(ZSTD(1)),
    old_owner_prefix     UInt64 CODEC(ZSTD(1)),
    old_owner            FixedString(32) CODEC(ZSTD(1)),
    new_owner_workchain  Int32 CODEC(ZSTD(1)),
    new_owner_prefix     UInt64 CODEC(ZSTD(1)),
    new_owner            FixedString(32) CODEC(ZSTD(1)),
    record               String CODEC(ZSTD(3))
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY lt
ORDER BY (lt, workchain, account_prefix)
{{settings "contracts"}};
{{distribute "nft_transfers" "account_prefix"}}

-- What NFT items were told (TEP-62 transfer), in the order of the chain and, as projections, of
-- their time, by item, and by old owner, new owner and collection in both orders. (workchain,
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
    record               String CODEC(ZSTD(3)),
    PROJECTION by_time (SELECT now, lt, workchain, account_prefix, transaction_mc_seqno
        ORDER BY now, lt, workchain, account_prefix),
    PROJECTION by_item (SELECT now, lt, workchain, account_prefix, transaction_mc_seqno
        ORDER BY workchain, account_prefix, lt),
    PROJECTION by_old_owner (SELECT now, lt, workchain, account_prefix, transaction_mc_seqno, old_owner_workchain, old_owner_prefix, collection_workchain, collection_prefix
        ORDER BY old_owner_workchain, old_owner_prefix, lt, workchain, account_prefix),
    PROJECTION by_old_owner_time (SELECT now, lt, workchain, account_prefix, transaction_mc_seqno, old_owner_workchain, old_owner_prefix, collection_workchain, collection_prefix
        ORDER BY old_owner_workchain, old_owner_prefix, now, lt, workchain, account_prefix),
    PROJECTION by_new_owner (SELECT now, lt, workchain, account_prefix, transaction_mc_seqno, new_owner_workchain, new_owner_prefix, collection_workchain, collection_prefix
        ORDER BY new_owner_workchain, new_owner_prefix, lt, workchain, account_prefix),
    PROJECTION by_new_owner_time (SELECT now, lt, workchain, account_prefix, transaction_mc_seqno, new_owner_workchain, new_owner_prefix, collection_workchain, collection_prefix
        ORDER BY new_owner_workchain, new_owner_prefix, now, lt, workchain, account_prefix),
    PROJECTION by_collection (SELECT now, lt, workchain, account_prefix, transaction_mc_seqno, collection_workchain, collection_prefix
        ORDER BY collection_workchain, collection_prefix, lt, workchain, account_prefix),
    PROJECTION by_collection_time (SELECT now, lt, workchain, account_prefix, transaction_mc_seqno, collection_workchain, collection_prefix
        ORDER BY collection_workchain, collection_prefix, now, lt, workchain, account_prefix)
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
ORDER BY (lt, workchain, account_prefix)
{{settings "states"}};
{{distribute "nft_transfers" "account_prefix"}}

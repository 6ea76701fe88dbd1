-- NFT items (TEP-62) whose collection, where there is one, confirmed them: by address and, as
-- projections, by collection in the order of indexes and of the last transactions, by owner and by
-- real owner (the seller of an item that is on sale) likewise, and all of them in the orders of
-- becoming known and of the last transactions. Of the rows of one account the one with the greatest mc_seqno
-- counts; an older one may lie in a projection until parts are merged. active is false when the
-- contract is nothing any more. No address is workchain -2147483648 and zeros. lt is that of the
-- account in the state that this was read from.
{{create "nft_items"}} (
    workchain            Int32 CODEC(ZSTD(1)),
    account_prefix       UInt64 CODEC(Delta, ZSTD(1)),
    account              FixedString(32) CODEC(NONE),
    mc_seqno             UInt32 CODEC(T64, ZSTD(1)),
    first_mc_seqno       UInt32 CODEC(T64, ZSTD(1)),
    lt                   UInt64 CODEC(T64, ZSTD(1)),
    active               Bool CODEC(ZSTD(1)),
    init                 Bool CODEC(ZSTD(1)),
    item_index           UInt256 CODEC(ZSTD(1)),
    collection_workchain Int32 CODEC(ZSTD(1)),
    collection_prefix    UInt64 CODEC(ZSTD(1)),
    collection           FixedString(32) CODEC(ZSTD(1)),
    owner_workchain      Int32 CODEC(ZSTD(1)),
    owner_prefix         UInt64 CODEC(ZSTD(1)),
    owner                FixedString(32) CODEC(ZSTD(1)),
    seller_workchain     Int32 CODEC(ZSTD(1)),
    seller_prefix        UInt64 CODEC(ZSTD(1)),
    seller               FixedString(32) CODEC(ZSTD(1)),
    PROJECTION by_collection (SELECT workchain, account_prefix, mc_seqno, lt, item_index, collection_workchain, collection_prefix
        ORDER BY collection_workchain, collection_prefix, item_index, workchain, account_prefix),
    PROJECTION by_collection_lt (SELECT workchain, account_prefix, mc_seqno, lt, collection_workchain, collection_prefix
        ORDER BY collection_workchain, collection_prefix, lt, workchain, account_prefix),
    PROJECTION by_owner (SELECT workchain, account_prefix, mc_seqno, lt, item_index, collection_workchain, collection_prefix, owner_workchain, owner_prefix
        ORDER BY owner_workchain, owner_prefix, collection_workchain, collection_prefix, item_index, workchain, account_prefix),
    PROJECTION by_seller (SELECT workchain, account_prefix, mc_seqno, lt, item_index, collection_workchain, collection_prefix, seller_workchain, seller_prefix
        ORDER BY seller_workchain, seller_prefix, collection_workchain, collection_prefix, item_index, workchain, account_prefix),
    PROJECTION by_owner_lt (SELECT workchain, account_prefix, mc_seqno, lt, owner_workchain, owner_prefix
        ORDER BY owner_workchain, owner_prefix, lt, workchain, account_prefix),
    PROJECTION by_seller_lt (SELECT workchain, account_prefix, mc_seqno, lt, seller_workchain, seller_prefix
        ORDER BY seller_workchain, seller_prefix, lt, workchain, account_prefix),
    PROJECTION by_first (SELECT workchain, account_prefix, mc_seqno, first_mc_seqno, active
        ORDER BY first_mc_seqno, workchain, account_prefix),
    PROJECTION by_lt (SELECT workchain, account_prefix, mc_seqno, lt, active
        ORDER BY lt, workchain, account_prefix)
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY (workchain, account_prefix)
ORDER BY (workchain, account_prefix, account)
{{settings "states"}};
{{distribute "nft_items" "account_prefix"}}

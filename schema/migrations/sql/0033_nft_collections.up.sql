-- NFT collections (TEP-62), by address and, as projections, in the order in which they became known
-- and by owner. Of the rows of one account the one with the greatest mc_seqno counts. active is
-- false when the contract is nothing any more. next_item_index is 0 where unordered is true.
{{create "nft_collections"}} (
    workchain       Int32 CODEC(ZSTD(1)),
    account_prefix  UInt64 CODEC(Delta, ZSTD(1)),
    account         FixedString(32) CODEC(NONE),
    mc_seqno        UInt32 CODEC(T64, ZSTD(1)),
    first_mc_seqno  UInt32 CODEC(T64, ZSTD(1)),
    lt              UInt64 CODEC(T64, ZSTD(1)),
    active          Bool CODEC(ZSTD(1)),
    owner_workchain Int32 CODEC(ZSTD(1)),
    owner_prefix    UInt64 CODEC(ZSTD(1)),
    owner           FixedString(32) CODEC(ZSTD(1)),
    next_item_index UInt256 CODEC(ZSTD(1)),
    unordered       Bool CODEC(ZSTD(1)),
    name            String CODEC(ZSTD(1)),
    uri             String CODEC(ZSTD(1)),
    PROJECTION by_first (SELECT workchain, account_prefix, mc_seqno, first_mc_seqno, active
        ORDER BY first_mc_seqno, workchain, account_prefix),
    PROJECTION by_owner (SELECT workchain, account_prefix, mc_seqno, first_mc_seqno, active, owner_workchain, owner_prefix
        ORDER BY owner_workchain, owner_prefix, first_mc_seqno, workchain, account_prefix)
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY (workchain, account_prefix)
ORDER BY (workchain, account_prefix, account)
{{settings "states"}};
{{distribute "nft_collections" "account_prefix"}}

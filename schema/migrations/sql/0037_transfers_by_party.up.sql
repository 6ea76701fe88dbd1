-- Every list of transfers and burns of tokens but that of all in the order of the chain: those of an
-- owner, those of an owner and a parent (jetton master or collection), those of a parent, those of a
-- jetton wallet or an item, and all of a kind. No address is workchain -2147483648 and 0. direction
-- 0 = the owner receives, 1 = the owner sends or burns, 2 = either of these, or a list without an
-- owner, 3 = the owner is the jetton wallet or the item itself. Lists of an owner and a parent have
-- directions 0 and 1 only. (workchain, account_prefix, lt) is the transaction of the sending wallet
-- or of the item. Aborted jetton transfers are in no list. record is that of the kind's own table in
-- the lists of direction 2 that have an owner, else empty. The projection is for lists in the order
-- of time.
{{create "transfers_by_party"}} (
    kind                 Enum8('jetton_transfer' = 0, 'jetton_burn' = 1, 'nft_transfer' = 2) CODEC(ZSTD(1)),
    owner_workchain      Int32 CODEC(ZSTD(1)),
    owner_prefix         UInt64 CODEC(Delta, ZSTD(1)),
    parent_workchain     Int32 CODEC(ZSTD(1)),
    parent_prefix        UInt64 CODEC(ZSTD(1)),
    direction            UInt8 CODEC(ZSTD(1)),
    lt                   UInt64 CODEC(Delta, ZSTD(1)),
    workchain            Int32 CODEC(ZSTD(1)),
    account_prefix       UInt64 CODEC(ZSTD(1)),
    mc_seqno             UInt32 CODEC(Delta, ZSTD(1)),
    transaction_mc_seqno UInt32 CODEC(Delta, ZSTD(1)),
    now                  UInt32 CODEC(Delta, ZSTD(1)),
    record               String CODEC(ZSTD(3)),
    PROJECTION by_time (SELECT kind, owner_workchain, owner_prefix, parent_workchain, parent_prefix, direction, now, lt, workchain, account_prefix, transaction_mc_seqno
        ORDER BY kind, owner_workchain, owner_prefix, parent_workchain, parent_prefix, direction, now, lt, workchain, account_prefix)
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
ORDER BY (kind, owner_workchain, owner_prefix, parent_workchain, parent_prefix, direction, lt, workchain, account_prefix)
{{settings "states"}};
{{distribute "transfers_by_party" "account_prefix"}}

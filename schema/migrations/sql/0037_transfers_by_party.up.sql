-- Every list of transfers and burns of tokens but that of all in the order of the chain: those of an
-- owner, those of an owner and a parent (jetton master or collection), those of a parent, those of a
-- jetton wallet or an item, and all of a kind. list is the number of a list (schema.ListOf): one
-- column in place of six makes ClickHouse plan a statement in half the time. What shares a number by
-- chance is told apart by the records. (workchain, account_prefix, lt) is the transaction of the
-- sending wallet or of the item. Aborted jetton transfers are in no list. record is that of the kind's
-- own table in the lists of all that an owner takes part in, else empty. The projection is for lists
-- in the order of time: its granules are larger than the table's, for ClickHouse takes the one that
-- has fewer of them in a range, and the table when they are as many.
{{create "transfers_by_party"}} (
    list                 UInt64 CODEC(Delta, ZSTD(1)),
    lt                   UInt64 CODEC(Delta, ZSTD(1)),
    workchain            Int32 CODEC(ZSTD(1)),
    account_prefix       UInt64 CODEC(ZSTD(1)),
    mc_seqno             UInt32 CODEC(Delta, ZSTD(1)),
    transaction_mc_seqno UInt32 CODEC(Delta, ZSTD(1)),
    now                  UInt32 CODEC(Delta, ZSTD(1)),
    record               String CODEC(ZSTD(3)),
    PROJECTION by_time (SELECT list, now, lt, workchain, account_prefix, transaction_mc_seqno ORDER BY list, now, lt, workchain, account_prefix) WITH SETTINGS (index_granularity = 512)
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY (list, lt)
ORDER BY (list, lt, workchain, account_prefix)
{{settings "states"}};
{{distribute "transfers_by_party" "account_prefix"}}

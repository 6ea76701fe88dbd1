-- Jetton wallets (TEP-74) whose master confirmed them, by address and, as projections, by master in
-- the order of balances and of becoming known, by owner in both orders, and all of them in both. Of the
-- rows of one account the one with the greatest mc_seqno counts; an older one may lie in a
-- projection until parts are merged. active is false when the contract is nothing any more.
{{create "jetton_wallets"}} (
    workchain        Int32 CODEC(ZSTD(1)),
    account_prefix   UInt64 CODEC(Delta, ZSTD(1)),
    account          FixedString(32) CODEC(NONE),
    mc_seqno         UInt32 CODEC(T64, ZSTD(1)),
    first_mc_seqno   UInt32 CODEC(T64, ZSTD(1)),
    lt               UInt64 CODEC(T64, ZSTD(1)),
    active           Bool CODEC(ZSTD(1)),
    master_workchain Int32 CODEC(ZSTD(1)),
    master_prefix    UInt64 CODEC(ZSTD(1)),
    master           FixedString(32) CODEC(ZSTD(1)),
    owner_workchain  Int32 CODEC(ZSTD(1)),
    owner_prefix     UInt64 CODEC(ZSTD(1)),
    owner            FixedString(32) CODEC(ZSTD(1)),
    balance          UInt256 CODEC(ZSTD(1)),
    PROJECTION by_master_balance (SELECT workchain, account_prefix, mc_seqno, master_workchain, master_prefix, owner_workchain, owner_prefix, balance
        ORDER BY master_workchain, master_prefix, balance, workchain, account_prefix),
    PROJECTION by_master (SELECT workchain, account_prefix, mc_seqno, first_mc_seqno, master_workchain, master_prefix, balance
        ORDER BY master_workchain, master_prefix, first_mc_seqno, workchain, account_prefix),
    PROJECTION by_owner (SELECT workchain, account_prefix, mc_seqno, first_mc_seqno, master_workchain, master_prefix, owner_workchain, owner_prefix, balance
        ORDER BY owner_workchain, owner_prefix, first_mc_seqno, workchain, account_prefix),
    PROJECTION by_owner_balance (SELECT workchain, account_prefix, mc_seqno, master_workchain, master_prefix, owner_workchain, owner_prefix, balance
        ORDER BY owner_workchain, owner_prefix, balance, workchain, account_prefix),
    PROJECTION by_balance (SELECT workchain, account_prefix, mc_seqno, active, balance
        ORDER BY balance, workchain, account_prefix),
    PROJECTION by_first (SELECT workchain, account_prefix, mc_seqno, first_mc_seqno, active, balance
        ORDER BY first_mc_seqno, workchain, account_prefix)
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY (workchain, account_prefix)
ORDER BY (workchain, account_prefix, account)
{{settings "states"}};
{{distribute "jetton_wallets" "account_prefix"}}

-- Jetton masters (TEP-74), by address and, as projections, in the order in which they became known
-- and by admin. Of the rows of one account the one with the greatest mc_seqno counts; an older one
-- may lie in a projection until parts are merged. active is false when the contract is nothing any
-- more. No address is workchain -2147483648 and zeros. name, symbol and decimals are those on the
-- chain, empty where they are in the document behind uri.
{{create "jetton_masters"}} (
    workchain        Int32 CODEC(ZSTD(1)),
    account_prefix   UInt64 CODEC(Delta, ZSTD(1)),
    account          FixedString(32) CODEC(NONE),
    mc_seqno         UInt32 CODEC(T64, ZSTD(1)),
    first_mc_seqno   UInt32 CODEC(T64, ZSTD(1)),
    lt               UInt64 CODEC(T64, ZSTD(1)),
    active           Bool CODEC(ZSTD(1)),
    total_supply     UInt256 CODEC(ZSTD(1)),
    mintable         Bool CODEC(ZSTD(1)),
    admin_workchain  Int32 CODEC(ZSTD(1)),
    admin_prefix     UInt64 CODEC(ZSTD(1)),
    admin            FixedString(32) CODEC(ZSTD(1)),
    name             String CODEC(ZSTD(1)),
    symbol           String CODEC(ZSTD(1)),
    decimals         String CODEC(ZSTD(1)),
    uri              String CODEC(ZSTD(1)),
    wallet_code_hash FixedString(32) CODEC(ZSTD(1)),
    PROJECTION by_first (SELECT workchain, account_prefix, mc_seqno, first_mc_seqno, active
        ORDER BY first_mc_seqno, workchain, account_prefix),
    PROJECTION by_admin (SELECT workchain, account_prefix, mc_seqno, first_mc_seqno, active, admin_workchain, admin_prefix
        ORDER BY admin_workchain, admin_prefix, first_mc_seqno, workchain, account_prefix)
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY (workchain, account_prefix)
ORDER BY (workchain, account_prefix, account)
{{settings "states"}};
{{distribute "jetton_masters" "account_prefix"}}

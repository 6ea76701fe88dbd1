-- What contracts were before bundles that made them something else: an owner, a bid, a code. Balances
-- and the like do not count. With contracts it says what a contract was as of any bundle: the row of
-- the least mc_seqno above it, or, without one, what it is. record is the protobuf Contract
-- (schema/record).
{{create "past_contracts"}} (
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(Delta, ZSTD(1)),
    account        FixedString(32) CODEC(NONE),
    mc_seqno       UInt32 CODEC(T64, ZSTD(1)),
    record         String CODEC(ZSTD(1))
) ENGINE = {{engine}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY (workchain, account_prefix)
ORDER BY (workchain, account_prefix, account, mc_seqno)
{{settings "contracts"}};
{{distribute "past_contracts" "account_prefix"}}

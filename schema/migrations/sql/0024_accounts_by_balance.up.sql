-- The balance of every account, and as a projection all of them in the order of their balances. Of
-- the rows of one account the one with the greatest version counts (see accounts): an older one may
-- lie in the projection until parts are merged. So it does not matter which balance an account had
-- before, or whether that is known: it may have changed in a bundle that was skipped. gone is true
-- when the account does not exist any more.
{{create "accounts_by_balance"}} (
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(Delta, ZSTD(1)),
    account        FixedString(32) CODEC(NONE),
    version        UInt64 CODEC(ZSTD(1)),
    balance        UInt64 CODEC(T64, ZSTD(1)),
    gone           Bool CODEC(ZSTD(1)),
    PROJECTION by_balance (SELECT workchain, account_prefix, balance, gone ORDER BY balance, workchain, account_prefix)
) ENGINE = {{engine "version"}}
PRIMARY KEY (workchain, account_prefix)
ORDER BY (workchain, account_prefix, account)
{{settings "states"}};
{{distribute "accounts_by_balance" "account_prefix"}}

-- Accounts in the order of their balance, about: the class is 511 for a balance of 0 and falls with
-- the logarithm of the balance, eight classes for each power of two, and inside a class accounts
-- lie in the order of their ids. An account has a row in its class, and rows that are gone in
-- classes that it left. Of the rows of one account in one class the one with the greatest version
-- counts (see accounts), so rows may be written twice and the table stays as small as accounts. The
-- projection has the order of the balances themselves. An older row may lie in it until parts are
-- merged.
{{create "accounts_by_balance"}} (
    class          UInt16 CODEC(Delta, ZSTD(1)),
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(Delta, ZSTD(1)),
    account        FixedString(32) CODEC(NONE),
    version        UInt64 CODEC(ZSTD(1)),
    balance        UInt64 CODEC(T64, ZSTD(1)),
    gone           Bool CODEC(ZSTD(1)),
    PROJECTION by_balance (SELECT class, workchain, account_prefix, balance, gone ORDER BY balance, workchain, account_prefix)
) ENGINE = {{engine "version"}}
ORDER BY (class, workchain, account_prefix, account)
{{settings "states"}};
{{distribute "accounts_by_balance" "account_prefix"}}

-- How many accounts have how much: digits is the number of decimal digits of the balance in nanotons,
-- 0 for a balance of 0. All rows are made anew at once, from the newest state of every account;
-- accounts that do not exist any more are left out. On a cluster each shard has the figures of its
-- own accounts, which add up.
{{create "stats_balances"}} (
    digits   UInt8,
    accounts UInt64,
    balance  UInt128,
    computed DateTime64(3, 'UTC')
) ENGINE = {{engine}}
ORDER BY digits
{{settings "index"}};
{{distribute "stats_balances" "digits"}}

{{refresh "stats_balances_view" "EVERY 2 MINUTE" "stats_balances"}}
SELECT if(r.balance = 0, 0, length(toString(r.balance)))::UInt8 AS digits, count() AS accounts,
    sum(toUInt128(r.balance)) AS balance, now64(3, 'UTC') AS computed
FROM {{local "accounts"}} AS r FINAL
WHERE status != 'nonexist'
GROUP BY digits;

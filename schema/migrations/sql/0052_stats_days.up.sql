-- Transactions of each day (UTC): how many, how many of them aborted, how many accounts had one, and
-- fees in nanotons. Of the rows of one day the one with the newest computed counts. On a cluster each
-- shard has the figures of its own accounts, which add up. A day that was touched is made anew each
-- minute, and for ten minutes after its last row came, in case an insert took long.
{{create "stats_days"}} (
    day          Date,
    transactions UInt64,
    aborted      UInt64,
    accounts     UInt64,
    total_fees   UInt64,
    storage_fees UInt64,
    gas_fees     UInt64,
    action_fees  UInt64,
    forward_fees UInt64,
    computed     DateTime64(3, 'UTC')
) ENGINE = {{engine "computed"}}
ORDER BY day
{{settings "index"}};
{{distribute "stats_days" "toUInt16(day)"}}

{{refresh "stats_days_view" "EVERY 1 MINUTE APPEND" "stats_days"}}
SELECT toDate(toUInt16(intDiv(r.key, 86400))) AS day, count() AS transactions, countIf(aborted) AS aborted,
    uniqExact((workchain, account_prefix)) AS accounts, sum(r.total_fees) AS total_fees, sum(r.storage_fees) AS storage_fees,
    sum(r.gas_fees) AS gas_fees, sum(r.action_fees) AS action_fees, sum(r.forward_fees) AS forward_fees, now64(3, 'UTC') AS computed
FROM {{local "transactions_index"}} AS r FINAL
WHERE path = 'utime' AND intDiv(r.key, 86400) IN (
    SELECT toUInt64(t.day)
    FROM (SELECT day, max(touched) AS last FROM {{local "stats_touched"}} WHERE source = 'transactions' GROUP BY day) AS t
    LEFT JOIN (SELECT day, max(computed) AS made FROM {{local "stats_days"}} GROUP BY day) AS d ON t.day = d.day
    WHERE t.last >= d.made - INTERVAL 10 MINUTE)
GROUP BY day;

-- Delivered jetton transfers of each day (UTC) and jetton master, with the sum of their amounts in
-- the jetton's units. Days and rows are as in stats_days. The index lets a day be found in
-- jetton_transfers, whose order follows time closely.
{{alter "jetton_transfers"}} ADD INDEX IF NOT EXISTS by_now now TYPE minmax GRANULARITY 4;

{{create "stats_jetton_days"}} (
    day              Date,
    master_workchain Int32,
    master           FixedString(32) CODEC(ZSTD(1)),
    transfers        UInt64 CODEC(T64, ZSTD(1)),
    amount           UInt256 CODEC(ZSTD(1)),
    computed         DateTime64(3, 'UTC')
) ENGINE = {{engine "computed"}}
ORDER BY (day, master_workchain, master)
{{settings "index"}};
{{distribute "stats_jetton_days" "toUInt16(day)"}}

{{refresh "stats_jetton_days_view" "EVERY 1 MINUTE APPEND" "stats_jetton_days"}}
SELECT toDate(toUInt16(intDiv(now, 86400))) AS day, master_workchain, master, countIf(delivery = 'delivered') AS transfers,
    sumIf(r.amount, delivery = 'delivered') AS amount, now64(3, 'UTC') AS computed
FROM {{local "jetton_transfers"}} AS r FINAL
WHERE master_workchain != -2147483648 AND intDiv(now, 86400) IN (
    SELECT toUInt32(t.day)
    FROM (SELECT day, max(touched) AS last FROM {{local "stats_touched"}} WHERE source = 'jetton_transfers' GROUP BY day) AS t
    LEFT JOIN (SELECT day, max(computed) AS made FROM {{local "stats_jetton_days"}} GROUP BY day) AS d ON t.day = d.day
    WHERE t.last >= d.made - INTERVAL 10 MINUTE)
GROUP BY day, master_workchain, master;

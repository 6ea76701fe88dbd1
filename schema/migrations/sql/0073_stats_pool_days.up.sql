-- Exchanges of each day (UTC) by exchange and pair, which is what a pool is: how many of its jetton_swap
-- took place, how many failed, and the amounts that went in and out, in the assets' units. asset is
-- what was given, asset_out what was got, zeros for toncoins: the other way is another row. Days and
-- rows are as in stats_days.
{{create "stats_pool_days"}} (
    day        Date,
    protocol   LowCardinality(String),
    asset      FixedString(32) CODEC(ZSTD(1)),
    asset_out  FixedString(32) CODEC(ZSTD(1)),
    swaps      UInt64 CODEC(T64, ZSTD(1)),
    failed     UInt64 CODEC(T64, ZSTD(1)),
    amount     UInt256 CODEC(ZSTD(1)),
    amount_out UInt256 CODEC(ZSTD(1)),
    computed   DateTime64(3, 'UTC')
) ENGINE = {{engine "computed"}}
ORDER BY (day, protocol, asset, asset_out)
{{settings "index"}};
{{distribute "stats_pool_days" "toUInt16(day)"}}

{{refresh "stats_pool_days_view" "EVERY 1 MINUTE APPEND" "stats_pool_days"}}
WITH days AS (
    SELECT t.day AS touched_day
    FROM (SELECT day, max(touched) AS last FROM {{local "stats_touched"}} WHERE source = 'actions' GROUP BY day) AS t
    LEFT JOIN (SELECT day, max(computed) AS made FROM {{local "stats_pool_days"}} GROUP BY day) AS d ON t.day = d.day
    WHERE t.last >= d.made - INTERVAL 10 MINUTE)
SELECT day, protocol, asset, asset_out, countIf(counts AND success) AS swaps, countIf(counts AND NOT success) AS failed,
    sumIf(given, counts AND success) AS amount, sumIf(got, counts AND success) AS amount_out, now64(3, 'UTC') AS computed
FROM (
    SELECT toDate(toUInt16(intDiv(end_utime, 86400))) AS day, protocol, asset, asset_out, whole AS counts, success, amount AS given, amount_out AS got
    FROM {{local "action_times"}} FINAL WHERE type = 'jetton_swap' AND intDiv(end_utime, 86400) IN (SELECT toUInt32(touched_day) FROM days)
    UNION ALL SELECT day, protocol, asset, asset_out, false, false, toUInt256(0), toUInt256(0) FROM {{local "stats_pool_days"}} WHERE day IN (SELECT touched_day FROM days))
GROUP BY day, protocol, asset, asset_out;

-- Actions of each day (UTC) by their type, and by the exchange, provider or marketplace that they name:
-- how many that are no parts of others, and how many of them failed; 0 where there were some before they
-- were recognised again. Days and rows are as in stats_days.
{{create "stats_action_days"}} (
    day      Date,
    type     LowCardinality(String),
    protocol LowCardinality(String),
    actions  UInt64 CODEC(T64, ZSTD(1)),
    failed   UInt64 CODEC(T64, ZSTD(1)),
    computed DateTime64(3, 'UTC')
) ENGINE = {{engine "computed"}}
ORDER BY (day, type, protocol)
{{settings "index"}};
{{distribute "stats_action_days" "toUInt16(day)"}}

{{refresh "stats_action_days_view" "EVERY 1 MINUTE APPEND" "stats_action_days"}}
WITH days AS (
    SELECT t.day AS touched_day
    FROM (SELECT day, max(touched) AS last FROM {{local "stats_touched"}} WHERE source = 'actions' GROUP BY day) AS t
    LEFT JOIN (SELECT day, max(computed) AS made FROM {{local "stats_action_days"}} GROUP BY day) AS d ON t.day = d.day
    WHERE t.last >= d.made - INTERVAL 10 MINUTE)
SELECT day, type, protocol, countIf(counts) AS actions, countIf(counts AND NOT success) AS failed, now64(3, 'UTC') AS computed
FROM (
    SELECT toDate(toUInt16(intDiv(end_utime, 86400))) AS day, type, protocol, whole AS counts, success
    FROM {{local "action_times"}} FINAL WHERE intDiv(end_utime, 86400) IN (SELECT toUInt32(touched_day) FROM days)
    UNION ALL SELECT day, type, protocol, false, false FROM {{local "stats_action_days"}} WHERE day IN (SELECT touched_day FROM days))
GROUP BY day, type, protocol;

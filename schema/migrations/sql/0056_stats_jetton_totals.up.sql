{{dropview "stats_jetton_totals_view"}}
{{dropview "stats_jetton_totals"}}
-- Jetton masters in the order of their delivered transfers since a day, which is the first of the last
-- 1, 7, 14, 30, 60, 90, 120, 180, 240, 300 and 365 days that end with the newest day of
-- stats_jetton_days; what it is since another day differs by the days between only. All rows are made
-- anew at once. On a cluster every shard has the figures of all shards.
{{everywhere "stats_jetton_totals"}} (
    since            Date,
    transfers        UInt64 CODEC(T64, ZSTD(1)),
    master_workchain Int32,
    master           FixedString(32) CODEC(ZSTD(1)),
    amount           UInt256 CODEC(ZSTD(1)),
    computed         DateTime64(3, 'UTC'),
    PROJECTION by_master (SELECT * ORDER BY since, master_workchain, master)
) ENGINE = {{engine}}
ORDER BY (since, transfers, master_workchain, master)
{{settings "states"}};

{{refreshall "stats_jetton_totals_view" "EVERY 1 MINUTE" "stats_jetton_totals"}}
SELECT since, sum(r.transfers) AS transfers, master_workchain, master, sum(r.amount) AS amount, max(r.computed) AS computed
FROM stats_jetton_days AS r FINAL
ARRAY JOIN arrayMap(days -> (SELECT max(day) FROM stats_jetton_days) - days + 1, [1, 7, 14, 30, 60, 90, 120, 180, 240, 300, 365]) AS since
WHERE r.day >= since
GROUP BY since, master_workchain, master;

-- Jetton masters in the order of their holders: holders counts confirmed wallets with a balance,
-- wallets all confirmed ones, held is what they hold together in the jetton's units. All rows are
-- made anew at once, from the newest row of every wallet. On a cluster every shard has the figures
-- of all shards.
{{everywhere "stats_jettons"}} (
    master_workchain Int32,
    master           FixedString(32) CODEC(ZSTD(1)),
    holders          UInt64,
    wallets          UInt64,
    held             UInt256 CODEC(ZSTD(1)),
    computed         DateTime64(3, 'UTC'),
    PROJECTION by_master (SELECT * ORDER BY master_workchain, master)
) ENGINE = {{engine}}
ORDER BY (holders, master_workchain, master)
{{settings "states"}};

{{refreshall "stats_jettons_view" "EVERY 2 MINUTE" "stats_jettons"}}
SELECT master_workchain, master, countIf(r.balance > 0) AS holders, count() AS wallets, sum(r.balance) AS held,
    now64(3, 'UTC') AS computed
FROM jetton_wallets AS r FINAL
WHERE active AND master_workchain != -2147483648
GROUP BY master_workchain, master;

ALTER TABLE stats_jettons_view MODIFY QUERY
SELECT master_workchain, master, countIf(r.balance > 0) AS holders, count() AS wallets, sum(r.balance) AS held,
    now64(3, 'UTC') AS computed
FROM jetton_wallets AS r FINAL
WHERE active AND master_workchain != -2147483648
GROUP BY master_workchain, master;

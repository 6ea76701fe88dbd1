-- held is the greatest number where wallets say that they hold more together: a contract may say anything
-- of itself, and sums of 256 bits begin anew at 0.
ALTER TABLE stats_jettons_view MODIFY QUERY
SELECT master_workchain, master, countIf(r.balance > 0) AS holders, count() AS wallets,
    if(sum(bitShiftRight(r.balance, 128)) + bitShiftRight(sum(bitAnd(r.balance, toUInt256('340282366920938463463374607431768211455'))), 128) > toUInt256('340282366920938463463374607431768211455'),
        bitNot(toUInt256(0)), sum(r.balance)) AS held,
    now64(3, 'UTC') AS computed
FROM jetton_wallets AS r FINAL
WHERE active AND master_workchain != -2147483648
GROUP BY master_workchain, master;

-- Days are made anew also where figures are of a moment that is yet to come, as after the clock was put
-- back; these newest figures have the latest moment all the same, since by that they count.
ALTER TABLE stats_days_view MODIFY QUERY
SELECT toDate(toUInt16(intDiv(r.key, 86400))) AS day, count() AS transactions, countIf(aborted) AS aborted,
    uniqExact((workchain, account_prefix)) AS accounts, sum(r.total_fees) AS total_fees, sum(r.storage_fees) AS storage_fees,
    sum(r.gas_fees) AS gas_fees, sum(r.action_fees) AS action_fees, sum(r.forward_fees) AS forward_fees,
    greatest(now64(3, 'UTC'), (SELECT max(computed) FROM {{local "stats_days"}}) + INTERVAL 1 MILLISECOND) AS computed
FROM {{local "transactions_index"}} AS r FINAL
WHERE path = 'utime' AND intDiv(r.key, 86400) IN (
    SELECT toUInt64(t.day)
    FROM (SELECT day, max(touched) AS last FROM {{local "stats_touched"}} WHERE source = 'transactions' GROUP BY day) AS t
    LEFT JOIN (SELECT day, max(computed) AS made FROM {{local "stats_days"}} GROUP BY day) AS d ON t.day = d.day
    WHERE t.last >= least(d.made, now64(3, 'UTC')) - INTERVAL 10 MINUTE)
GROUP BY day;

ALTER TABLE stats_jetton_days_view MODIFY QUERY
SELECT toDate(toUInt16(intDiv(now, 86400))) AS day, master_workchain, master, countIf(delivery = 'delivered') AS transfers,
    sumIf(r.amount, delivery = 'delivered') AS amount,
    greatest(now64(3, 'UTC'), (SELECT max(computed) FROM {{local "stats_jetton_days"}}) + INTERVAL 1 MILLISECOND) AS computed
FROM {{local "jetton_transfers"}} AS r FINAL
WHERE master_workchain != -2147483648 AND intDiv(now, 86400) IN (
    SELECT toUInt32(t.day)
    FROM (SELECT day, max(touched) AS last FROM {{local "stats_touched"}} WHERE source = 'jetton_transfers' GROUP BY day) AS t
    LEFT JOIN (SELECT day, max(computed) AS made FROM {{local "stats_jetton_days"}} GROUP BY day) AS d ON t.day = d.day
    WHERE t.last >= least(d.made, now64(3, 'UTC')) - INTERVAL 10 MINUTE)
GROUP BY day, master_workchain, master;

ALTER TABLE stats_action_days_view MODIFY QUERY
WITH days AS (
    SELECT t.day AS touched_day
    FROM (SELECT day, max(touched) AS last FROM {{local "stats_touched"}} WHERE source = 'actions' GROUP BY day) AS t
    LEFT JOIN (SELECT day, max(computed) AS made FROM {{local "stats_action_days"}} GROUP BY day) AS d ON t.day = d.day
    WHERE t.last >= least(d.made, now64(3, 'UTC')) - INTERVAL 10 MINUTE)
SELECT day, type, protocol, countIf(counts) AS actions, countIf(counts AND NOT success) AS failed,
    greatest(now64(3, 'UTC'), (SELECT max(computed) FROM {{local "stats_action_days"}}) + INTERVAL 1 MILLISECOND) AS computed
FROM (
    SELECT toDate(toUInt16(intDiv(end_utime, 86400))) AS day, type, protocol, whole AS counts, success
    FROM {{local "action_times"}} FINAL WHERE intDiv(end_utime, 86400) IN (SELECT toUInt32(touched_day) FROM days)
    UNION ALL SELECT day, type, protocol, false, false FROM {{local "stats_action_days"}} WHERE day IN (SELECT touched_day FROM days))
GROUP BY day, type, protocol;

ALTER TABLE stats_pool_days_view MODIFY QUERY
WITH days AS (
    SELECT t.day AS touched_day
    FROM (SELECT day, max(touched) AS last FROM {{local "stats_touched"}} WHERE source = 'actions' GROUP BY day) AS t
    LEFT JOIN (SELECT day, max(computed) AS made FROM {{local "stats_pool_days"}} GROUP BY day) AS d ON t.day = d.day
    WHERE t.last >= least(d.made, now64(3, 'UTC')) - INTERVAL 10 MINUTE)
SELECT day, protocol, asset, asset_out, countIf(counts AND success) AS swaps, countIf(counts AND NOT success) AS failed,
    sumIf(given, counts AND success) AS amount, sumIf(got, counts AND success) AS amount_out,
    greatest(now64(3, 'UTC'), (SELECT max(computed) FROM {{local "stats_pool_days"}}) + INTERVAL 1 MILLISECOND) AS computed
FROM (
    SELECT toDate(toUInt16(intDiv(end_utime, 86400))) AS day, protocol, asset, asset_out, whole AS counts, success, amount AS given, amount_out AS got
    FROM {{local "action_times"}} FINAL WHERE type = 'jetton_swap' AND intDiv(end_utime, 86400) IN (SELECT toUInt32(touched_day) FROM days)
    UNION ALL SELECT day, protocol, asset, asset_out, false, false, toUInt256(0), toUInt256(0) FROM {{local "stats_pool_days"}} WHERE day IN (SELECT touched_day FROM days))
GROUP BY day, protocol, asset, asset_out;

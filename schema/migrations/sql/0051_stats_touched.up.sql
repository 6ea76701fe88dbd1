-- The days (UTC) whose rows changed, and when they last did: every insert leaves its days here, and
-- the figures of such a day are made anew, from all its rows. So they are right however often a
-- row came.
{{create "stats_touched"}} (
    source  Enum8('transactions' = 1, 'jetton_transfers' = 2),
    day     Date,
    touched DateTime64(3, 'UTC')
) ENGINE = {{engine "touched"}}
ORDER BY (source, day)
{{settings "index"}};
{{distribute "stats_touched" "toUInt16(day)"}}

{{view "stats_touched_by_transactions" "stats_touched"}}
SELECT 'transactions' AS source, toDate(toUInt16(intDiv(key, 86400))) AS day, now64(3, 'UTC') AS touched
FROM {{local "transactions_index"}} WHERE path = 'utime' GROUP BY day;

{{view "stats_touched_by_jetton_transfers" "stats_touched"}}
SELECT 'jetton_transfers' AS source, toDate(toUInt16(intDiv(now, 86400))) AS day, now64(3, 'UTC') AS touched
FROM {{local "jetton_transfers"}} GROUP BY day;

INSERT INTO {{local "stats_touched"}}
SELECT 'transactions', toDate(toUInt16(intDiv(key, 86400))) AS day, now64(3, 'UTC') FROM {{local "transactions_index"}} WHERE path = 'utime' GROUP BY day;

INSERT INTO {{local "stats_touched"}}
SELECT 'jetton_transfers', toDate(toUInt16(intDiv(now, 86400))) AS day, now64(3, 'UTC') FROM {{local "jetton_transfers"}} GROUP BY day;

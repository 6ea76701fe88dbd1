-- Actions in the order of their ends, with what figures of days are made of: every insert into actions
-- leaves its rows here, of which those of the greatest revision count. whole is false for parts of
-- other actions. Amounts are those of exchanges, 0 elsewhere. An insert also leaves its days in
-- stats_touched, so that their figures are made anew.
{{create "action_times"}} (
    end_utime     UInt32 CODEC(Delta, ZSTD(1)),
    start_lt      UInt64 CODEC(Delta, ZSTD(1)),
    id_prefix     UInt32 CODEC(NONE),
    type          LowCardinality(String) CODEC(ZSTD(1)),
    protocol      LowCardinality(String) CODEC(ZSTD(1)),
    success       Bool CODEC(ZSTD(1)),
    whole         Bool CODEC(ZSTD(1)),
    asset         FixedString(32) CODEC(ZSTD(1)),
    asset_out     FixedString(32) CODEC(ZSTD(1)),
    amount        UInt256 CODEC(ZSTD(1)),
    amount_out    UInt256 CODEC(ZSTD(1)),
    revision      UInt32 CODEC(T64, ZSTD(1)),
    gone          UInt8 CODEC(ZSTD(1))
) ENGINE = {{engine "revision" "gone"}}
ORDER BY (end_utime, start_lt, id_prefix)
{{settings "index"}};
{{distribute "action_times" "id_prefix"}}

{{modify "stats_touched" "source Enum8('transactions' = 1, 'jetton_transfers' = 2, 'actions' = 3)"}}

{{view "action_times_by_actions" "action_times"}}
SELECT end_utime, start_lt, id_prefix, type, protocol, success, empty(ancestors) AS whole,
    if(type = 'jetton_swap', asset, toFixedString('', 32)) AS asset, if(type = 'jetton_swap', asset_out, toFixedString('', 32)) AS asset_out,
    if(type = 'jetton_swap', amount, toUInt256(0)) AS amount, if(type = 'jetton_swap', amount_out, toUInt256(0)) AS amount_out, revision, gone
FROM {{local "actions"}};

{{view "stats_touched_by_actions" "stats_touched"}}
SELECT 'actions' AS source, toDate(toUInt16(intDiv(end_utime, 86400))) AS day, now64(3, 'UTC') AS touched
FROM {{local "actions"}} GROUP BY day;

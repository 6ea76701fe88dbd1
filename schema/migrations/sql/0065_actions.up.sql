-- What parts of traces were. (trace_prefix, start_lt, action_prefix) tells actions apart, trace_prefix
-- being the beginning of the trace's id as in traces. record is the protobuf Action (schema/record),
-- which begins with its id. Columns of accounts and amounts are of the details that types have: what
-- is not there is zeros. An action that is recognised again has a greater revision, gone where it is
-- none any more. The projection finds an action by its id.
{{create "actions"}} (
    trace_prefix   UInt64 CODEC(Delta, ZSTD(1)),
    start_lt       UInt64 CODEC(T64, ZSTD(1)),
    action_prefix  UInt64 CODEC(NONE),
    id             FixedString(32) ALIAS toFixedString(substring(record, 3, 32), 32),
    mc_seqno       UInt32 CODEC(T64, ZSTD(1)),
    trace_end_lt   UInt64 CODEC(T64, ZSTD(1)),
    end_lt         UInt64 CODEC(T64, ZSTD(1)),
    start_utime    UInt32 CODEC(T64, ZSTD(1)),
    end_utime      UInt32 CODEC(T64, ZSTD(1)),
    type           LowCardinality(String) CODEC(ZSTD(1)),
    success        Bool CODEC(ZSTD(1)),
    ancestors      Array(String) CODEC(ZSTD(1)),
    protocol       LowCardinality(String) CODEC(ZSTD(1)),
    source         FixedString(32) CODEC(ZSTD(1)),
    destination    FixedString(32) CODEC(ZSTD(1)),
    asset          FixedString(32) CODEC(ZSTD(1)),
    asset_out      FixedString(32) CODEC(ZSTD(1)),
    nft_item       FixedString(32) CODEC(ZSTD(1)),
    nft_collection FixedString(32) CODEC(ZSTD(1)),
    pool           FixedString(32) CODEC(ZSTD(1)),
    amount         UInt256 CODEC(ZSTD(1)),
    amount_out     UInt256 CODEC(ZSTD(1)),
    comment        String CODEC(ZSTD(1)),
    record         String CODEC(ZSTD(3)),
    revision       UInt32 DEFAULT 0 CODEC(T64, ZSTD(1)),
    gone           UInt8 DEFAULT 0 CODEC(ZSTD(1)),
    PROJECTION by_id (SELECT action_prefix, trace_prefix, start_lt ORDER BY action_prefix) WITH SETTINGS (index_granularity = 1024)
) ENGINE = {{engine "revision" "gone"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
ORDER BY (trace_prefix, start_lt, action_prefix)
{{settings "actions"}};
{{distribute "actions" "trace_prefix"}}

-- What parts of traces were. (trace_prefix, trace_end_lt, number) tells actions apart, trace_prefix
-- being the beginning of the trace's id as in traces, and number that of the action in the trace: from
-- 0 on in the order of end_lt and id. record is the stored form of the protobuf Action (schema/stored),
-- which begins with what columns are read from. Columns of accounts and amounts are of the details that
-- types have: what is not there is zeros. A trace whose actions are recognised again gets all of them
-- anew, with a greater revision and numbers behind the old ones, which are gone then. The projection
-- finds an action by the first 4 bytes of its id.
{{create "actions"}} (
    trace_prefix   UInt64 CODEC(Delta, ZSTD(1)),
    trace_end_lt   UInt64 CODEC(T64, ZSTD(1)),
    number         UInt32 CODEC(ZSTD(1)),
    id_prefix      UInt32 CODEC(NONE),
    id             FixedString(32) ALIAS toFixedString(concat(reverse(reinterpretAsFixedString(id_prefix)), substring(record, 1, 28)), 32),
    mc_seqno       UInt32 CODEC(T64, ZSTD(1)),
    start_lt       UInt64 ALIAS toUInt64(trace_end_lt - reinterpretAsUInt64(substring(record, 125, 8)) - reinterpretAsUInt64(substring(record, 133, 8))),
    end_lt         UInt64 ALIAS toUInt64(trace_end_lt - reinterpretAsUInt64(substring(record, 125, 8))),
    start_utime    UInt32 ALIAS toUInt32(end_utime - reinterpretAsUInt32(substring(record, 141, 4))),
    end_utime      UInt32 CODEC(T64, ZSTD(1)),
    type           LowCardinality(String) CODEC(ZSTD(1)),
    success        Bool CODEC(ZSTD(1)),
    ancestors      Array(String) CODEC(ZSTD(1)),
    protocol       LowCardinality(String) CODEC(ZSTD(1)),
    source         FixedString(32) ALIAS toFixedString(substring(record, 29, 32), 32),
    destination    FixedString(32) ALIAS toFixedString(substring(record, 61, 32), 32),
    asset          FixedString(32) CODEC(ZSTD(1)),
    asset_out      FixedString(32) CODEC(ZSTD(1)),
    nft_item       FixedString(32) ALIAS toFixedString(substring(record, 93, 32), 32),
    nft_collection FixedString(32) CODEC(ZSTD(1)),
    pool           FixedString(32) CODEC(ZSTD(1)),
    amount         UInt256 CODEC(ZSTD(1)),
    amount_out     UInt256 CODEC(ZSTD(1)),
    comment        String CODEC(ZSTD(1)),
    record         String CODEC(ZSTD(3)),
    revision       UInt32 DEFAULT 0 CODEC(T64, ZSTD(1)),
    gone           UInt8 DEFAULT 0 CODEC(ZSTD(1)),
    PROJECTION by_id (SELECT id_prefix, trace_prefix ORDER BY id_prefix) WITH SETTINGS (index_granularity = 1024)
) ENGINE = {{engine "revision" "gone"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
ORDER BY (trace_prefix, trace_end_lt, number)
{{settings "actions"}};
{{distribute "actions" "trace_prefix"}}

-- Traces without open messages in the order of their ends: all of them, and those that have a
-- transaction of an account. list is the number of a list (schema.TraceList). The projection is for
-- lists in the order of time.
{{create "traces_by_list"}} (
    list         UInt64 CODEC(Delta, ZSTD(1)),
    end_lt       UInt64 CODEC(Delta, ZSTD(1)),
    trace_prefix UInt64 CODEC(ZSTD(1)),
    end_utime    UInt32 CODEC(Delta, ZSTD(1)),
    mc_seqno     UInt32 CODEC(Delta, ZSTD(1)),
    PROJECTION by_time (SELECT list, end_utime, trace_prefix, end_lt, mc_seqno ORDER BY list, end_utime, trace_prefix) WITH SETTINGS (index_granularity = 512)
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
ORDER BY (list, end_lt, trace_prefix)
{{settings "lists"}};
{{distribute "traces_by_list" "trace_prefix"}}

-- Every trace, also while messages of it are open: it comes with each bundle that has transactions of
-- it, and the row with the greatest mc_seqno counts. record is the stored form of the protobuf Trace
-- (schema/stored), which begins with what columns are read from. A trace that turned out to be a part
-- of another one has a row under its own id, which says replaced, and whose other columns are those of
-- the whole.
{{create "traces"}} (
    trace_prefix       UInt64 CODEC(Delta, ZSTD(1)),
    id_next            UInt64 CODEC(NONE),
    id                 FixedString(32) ALIAS toFixedString(concat(reverse(reinterpretAsFixedString(trace_prefix)), reverse(reinterpretAsFixedString(id_next)), substring(record, 1, 16)), 32),
    mc_seqno           UInt32 CODEC(T64, ZSTD(1)),
    mc_seqno_start     UInt32 ALIAS reinterpretAsUInt32(substring(record, 109, 4)),
    start_lt           UInt64 ALIAS reinterpretAsUInt64(substring(record, 89, 8)),
    end_lt             UInt64 CODEC(T64, ZSTD(1)),
    start_utime        UInt32 ALIAS reinterpretAsUInt32(substring(record, 101, 4)),
    end_utime          UInt32 CODEC(T64, ZSTD(1)),
    state              Enum8('complete' = 0, 'pending' = 1, 'broken' = 2) CODEC(ZSTD(1)),
    nodes              UInt32 CODEC(T64, ZSTD(1)),
    edges              UInt32 ALIAS reinterpretAsUInt32(substring(record, 113, 4)),
    pending_edges      UInt32 ALIAS reinterpretAsUInt32(substring(record, 117, 4)),
    replaced           Bool CODEC(ZSTD(1)),
    external_hash      FixedString(32) ALIAS toFixedString(substring(record, 17, 32), 32),
    external_hash_norm FixedString(32) ALIAS toFixedString(substring(record, 49, 32), 32),
    record             String CODEC(ZSTD(1))
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
ORDER BY (trace_prefix, id_next)
{{settings "traces"}};
{{distribute "traces" "trace_prefix"}}

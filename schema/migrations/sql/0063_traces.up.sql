-- Every trace, also while messages of it are open: it comes with each bundle that has transactions of
-- it, and the row with the greatest mc_seqno counts. record is the protobuf Trace (schema/record),
-- which begins with id, external_hash and external_hash_norm. A trace that turned out to be a part of
-- another one has a row under its own id, which says replaced, and whose other columns are those of
-- the whole.
{{create "traces"}} (
    trace_prefix       UInt64 CODEC(Delta, ZSTD(1)),
    id                 FixedString(32) CODEC(NONE),
    mc_seqno           UInt32 CODEC(T64, ZSTD(1)),
    mc_seqno_start     UInt32 CODEC(T64, ZSTD(1)),
    start_lt           UInt64 CODEC(T64, ZSTD(1)),
    end_lt             UInt64 CODEC(T64, ZSTD(1)),
    start_utime        UInt32 CODEC(T64, ZSTD(1)),
    end_utime          UInt32 CODEC(T64, ZSTD(1)),
    state              Enum8('complete' = 0, 'pending' = 1, 'broken' = 2) CODEC(ZSTD(1)),
    nodes              UInt32 CODEC(T64, ZSTD(1)),
    edges              UInt32 CODEC(T64, ZSTD(1)),
    pending_edges      UInt32 CODEC(T64, ZSTD(1)),
    replaced           Bool CODEC(ZSTD(1)),
    external_hash      FixedString(32) ALIAS toFixedString(if(substring(record, 35, 2) = unhex('1220'), substring(record, 37, 32), repeat(char(0), 32)), 32),
    external_hash_norm FixedString(32) ALIAS toFixedString(if(substring(record, 35, 2) = unhex('1220') AND substring(record, 69, 2) = unhex('1A20'), substring(record, 71, 32), repeat(char(0), 32)), 32),
    record             String CODEC(ZSTD(1))
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
ORDER BY (trace_prefix, id)
{{settings "contracts"}};
{{distribute "traces" "trace_prefix"}}

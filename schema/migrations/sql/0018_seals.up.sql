-- The bundles that are complete in the tables of a topic's partition: rows is what the seal
-- promised and the sink saw.
{{create "seals"}} (
    topic         LowCardinality(String),
    partition     UInt16 CODEC(Delta, ZSTD(1)),
    mc_seqno      UInt32 CODEC(Delta, ZSTD(1)),
    prev_mc_seqno UInt32 CODEC(Delta, ZSTD(1)),
    rows          UInt64 CODEC(T64, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (topic, partition, mc_seqno)
{{settings "index"}};
{{distribute "seals" "mc_seqno"}}

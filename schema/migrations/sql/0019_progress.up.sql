-- How far the tables of a topic's partition are complete: the newest mc_seqno counts. The
-- watermark is the smallest of them over all topics and partitions.
{{create "progress"}} (
    topic      LowCardinality(String),
    partition  UInt16,
    partitions UInt16,
    mc_seqno   UInt32,
    gen_utime  UInt32
) ENGINE = {{engine "mc_seqno"}}
ORDER BY (topic, partition)
{{settings "index"}};
{{distribute "progress" "partition"}}

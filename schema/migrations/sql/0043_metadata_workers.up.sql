-- The processes that fetch documents: of the rows of one the one with the greatest seen counts. Times
-- are in milliseconds, by the clock of the server. since is when it came, live is false when it has
-- gone. mc_seqno is the bundle up to which it has read metadata_links.
{{create "metadata_workers"}} (
    worker   String,
    since    UInt64,
    seen     UInt64,
    live     Bool,
    mc_seqno UInt32
) ENGINE = {{engine "seen"}}
ORDER BY worker
{{settings "index"}};
{{distribute "metadata_workers" "cityHash64(worker)"}}

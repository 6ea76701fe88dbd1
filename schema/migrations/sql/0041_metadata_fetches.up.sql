-- How the fetching of each link stands: of the rows of one link the one with the greatest tried, in
-- milliseconds, counts; tried 0 is a link that was found and not tried yet. hash is the SHA-256 of
-- the link, lane stands for its host. failure is that of the last try, empty when there was none,
-- attempts counts failures in a row. due is when the link is to be fetched, in seconds, 4294967295
-- for never. had says that metadata has a document.
{{create "metadata_fetches"}} (
    hash     FixedString(32) CODEC(NONE),
    lane     UInt16 CODEC(ZSTD(1)),
    link     String CODEC(ZSTD(1)),
    tried    UInt64 CODEC(ZSTD(1)),
    failure  String CODEC(ZSTD(1)),
    attempts UInt32 CODEC(ZSTD(1)),
    due      UInt32 CODEC(ZSTD(1)),
    had      Bool CODEC(ZSTD(1)),
    PROJECTION by_lane (SELECT lane, due, hash ORDER BY lane, due, hash)
) ENGINE = {{engine "tried"}}
ORDER BY hash
{{settings "states"}};
{{distribute "metadata_fetches" "cityHash64(hash)"}}

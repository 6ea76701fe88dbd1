-- The documents that token contents point to: of the rows of one link the one with the greatest
-- fetched, in milliseconds, counts. hash is the SHA-256 of the link. failure is empty when the
-- document was had. document is the JSON object. attempts counts failures in a row; due is when the
-- link is to be fetched again, in seconds, 4294967295 for never.
{{create "metadata"}} (
    hash     FixedString(32),
    link     String CODEC(ZSTD(1)),
    fetched  UInt64,
    failure  String CODEC(ZSTD(1)),
    attempts UInt32,
    due      UInt32,
    document String CODEC(ZSTD(3))
) ENGINE = {{engine "fetched"}}
ORDER BY hash
{{settings "contracts"}};
{{distribute "metadata" "cityHash64(hash)"}}

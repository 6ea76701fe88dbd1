-- The documents that token contents point to (TEP-64): of the rows of one link the one with the
-- greatest fetched, in milliseconds, counts. hash is the SHA-256 of the link. document is the JSON
-- object, without values too large to be shown; it is empty where the link was tried and failed, and
-- failure says why. A document that was had stays when it cannot be had again.
{{create "metadata"}} (
    hash     FixedString(32) CODEC(NONE),
    link     String CODEC(ZSTD(1)),
    fetched  UInt64 CODEC(ZSTD(1)),
    failure  String CODEC(ZSTD(1)),
    document String CODEC(ZSTD(3))
) ENGINE = {{engine "fetched"}}
ORDER BY hash
{{settings "contracts"}};
{{distribute "metadata" "cityHash64(hash)"}}

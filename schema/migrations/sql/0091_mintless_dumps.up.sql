-- How the fetching of each airdrop's dump stands: of the rows of one hash the one with the greatest
-- tried, in milliseconds, counts; tried 0 is one that was found and not tried yet. root is the hash
-- that a jetton master gives, link that of its document, which names the dump; hash is the SHA-256 of
-- both, one after the other. failure is that of the last try, empty when there was none, attempts
-- counts failures in a row. due is when the dump is to be fetched, in seconds, 4294967295 for never:
-- all of its entries, as many as entries says, are in mintless_amounts. Where that is not so, entries
-- is 0.
{{create "mintless_dumps"}} (
    hash     FixedString(32) CODEC(NONE),
    root     FixedString(32) CODEC(NONE),
    link     String CODEC(ZSTD(1)),
    tried    UInt64 CODEC(ZSTD(1)),
    failure  String CODEC(ZSTD(1)),
    attempts UInt32 CODEC(ZSTD(1)),
    due      UInt32 CODEC(ZSTD(1)),
    entries  UInt64 CODEC(ZSTD(1))
) ENGINE = {{engine "tried"}}
ORDER BY hash
{{settings "contracts"}};
{{distribute "mintless_dumps" "cityHash64(hash)"}}

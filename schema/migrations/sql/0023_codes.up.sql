-- The code of contracts by its hash, with the ids of its get-methods. methods_known is false for
-- a code without a method dictionary where compilers put it. boc is a bag of cells.
{{create "codes"}} (
    hash          FixedString(32) CODEC(NONE),
    methods       Array(UInt32) CODEC(ZSTD(1)),
    methods_known Bool CODEC(ZSTD(1)),
    boc           String CODEC(ZSTD(3))
) ENGINE = {{engine}}
ORDER BY hash
{{settings "records"}};
{{distribute "codes" "cityHash64(hash)"}}

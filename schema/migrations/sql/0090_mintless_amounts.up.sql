-- What airdrops of mintless jettons (TEP-177) have for each owner, as it is in dumps: in the jetton's
-- units, and from when until when it can be claimed, in Unix seconds. An airdrop is known by the hash
-- of its root cell, so that rows of one root are the same whoever serves the dump, and none is wrong
-- while others are missing yet.
{{create "mintless_amounts"}} (
    root            FixedString(32) CODEC(ZSTD(1)),
    owner_workchain Int32 CODEC(ZSTD(1)),
    owner           FixedString(32) CODEC(NONE),
    amount          UInt128 CODEC(ZSTD(1)),
    start_from      UInt64 CODEC(ZSTD(1)),
    expire_at       UInt64 CODEC(ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (root, owner_workchain, owner)
{{settings "contracts"}};
{{distribute "mintless_amounts" "cityHash64(owner)"}}

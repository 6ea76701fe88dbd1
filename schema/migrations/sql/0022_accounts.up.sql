-- The newest state of every account. record is the protobuf Account (schema/record), without data
-- that is too deep to be kept; all else is for keys, filters and analysts. Of the rows of one account
-- the one with the greatest version counts: twice last_trans_lt, and 1 more when the account was told
-- of once more, with data that could not be had before. account_prefix is the first 8 bytes of the
-- account id as a number. Amounts are nanotons. code_hash is zero for accounts without code. There is
-- one partition only: its expression makes every part remember its range of mc_seqno.
{{create "accounts"}} (
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(Delta, ZSTD(1)),
    account        FixedString(32) CODEC(NONE),
    version        UInt64 CODEC(ZSTD(1)),
    mc_seqno       UInt32 CODEC(T64, ZSTD(1)),
    now            UInt32 CODEC(T64, ZSTD(1)),
    status         Enum8('uninit' = 0, 'frozen' = 1, 'active' = 2, 'nonexist' = 3) CODEC(ZSTD(1)),
    balance        UInt64 CODEC(T64, ZSTD(1)),
    code_hash      FixedString(32) CODEC(ZSTD(1)),
    record         String CODEC(ZSTD(3))
) ENGINE = {{engine "version"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY (workchain, account_prefix)
ORDER BY (workchain, account_prefix, account)
{{settings "contracts"}};
{{distribute "accounts" "account_prefix"}}

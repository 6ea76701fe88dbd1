-- What every contract is known to be: of the rows of one account the one with the greatest
-- mc_seqno, the bundle with which it became known, counts. record is the protobuf Contract
-- (schema/record). roles has a bit for each thing that the contract is: 1 jetton master, 2 jetton
-- wallet, 4 NFT collection, 8 NFT item, 16 sale, 32 auction, 64 telemint, 128 multisig,
-- 256 multisig order, 512 vesting, 1024 nominator pool, 2048 DeDust pool, 4096 Ston.fi pool,
-- 8192 DNS item; 0 when it is nothing any more. lt is that of the account in the state that this
-- was read from. account_prefix is the first 8 bytes of the account id as a number. There is one
-- partition only: its expression makes every part remember its range of mc_seqno.
{{create "contracts"}} (
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(Delta, ZSTD(1)),
    account        FixedString(32) CODEC(NONE),
    mc_seqno       UInt32 CODEC(T64, ZSTD(1)),
    first_mc_seqno UInt32 CODEC(T64, ZSTD(1)),
    lt             UInt64 CODEC(T64, ZSTD(1)),
    roles          UInt32 CODEC(ZSTD(1)),
    interfaces     Array(String) CODEC(ZSTD(1)),
    record         String CODEC(ZSTD(1))
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY (workchain, account_prefix)
ORDER BY (workchain, account_prefix, account)
{{settings "contracts"}};
{{distribute "contracts" "account_prefix"}}

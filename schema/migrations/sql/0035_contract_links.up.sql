-- The contracts that name an account, or a domain: signer = multisigs by signer or proposer, order =
-- orders by multisig, vesting = vesting contracts by owner or sender, whitelist = those by an account
-- on their whitelist, wallet = DNS items by the account that their record wallet names, domain = DNS
-- items by the first 8 bytes of the SHA-256 of their domain (key_workchain 0). Those of key_workchain
-- -2147483648 are all of the role. A row stays when the contract does not name the account any
-- more: what its newest row in contracts says counts.
{{create "contract_links"}} (
    role           Enum8('signer' = 1, 'order' = 2, 'vesting' = 3, 'whitelist' = 4, 'wallet' = 5, 'domain' = 6) CODEC(ZSTD(1)),
    key_workchain  Int32 CODEC(ZSTD(1)),
    key_prefix     UInt64 CODEC(Delta, ZSTD(1)),
    first_mc_seqno UInt32 CODEC(ZSTD(1)),
    workchain      Int32 CODEC(ZSTD(1)),
    account_prefix UInt64 CODEC(ZSTD(1)),
    account        FixedString(32) CODEC(NONE),
    mc_seqno       UInt32 CODEC(T64, ZSTD(1))
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
PRIMARY KEY (role, key_workchain, key_prefix, first_mc_seqno)
ORDER BY (role, key_workchain, key_prefix, first_mc_seqno, workchain, account_prefix, account)
{{settings "index"}};
{{distribute "contract_links" "account_prefix"}}

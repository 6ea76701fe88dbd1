-- Masters of mintless jettons have the hash of their airdrop's root cell, zeros of others. In
-- contract_links, unclaimed are their wallets without a balance that have not claimed what is theirs,
-- by owner or master.
{{columns "jetton_masters" "mintless_root FixedString(32) CODEC(ZSTD(1))"}}

{{modify "contract_links" "role Enum8('signer' = 1, 'order' = 2, 'vesting' = 3, 'whitelist' = 4, 'wallet' = 5, 'domain' = 6, 'unclaimed' = 7)"}}

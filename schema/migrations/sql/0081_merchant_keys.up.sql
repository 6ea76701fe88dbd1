-- Keys of the merchants' API. Of the key itself there is only its SHA-256 and how it begins. used
-- is when it was used last, some minutes late. The row with the greatest changed counts: in
-- microseconds, and with the highest bit once the key is revoked, which so stays for ever.
{{create "merchant_keys"}} (
    hash     FixedString(32),
    merchant FixedString(16),
    prefix   String,
    name     String,
    scopes   Array(LowCardinality(String)),
    created  DateTime64(6, 'UTC'),
    used     DateTime64(6, 'UTC'),
    revoked  Bool,
    changed  UInt64
) ENGINE = {{engine "changed"}}
ORDER BY hash
{{settings "index"}};
{{distribute "merchant_keys" "cityHash64(hash)"}}

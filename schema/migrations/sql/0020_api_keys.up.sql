-- API keys. Of the key itself there is only its SHA-256 and how it begins. The row with the
-- greatest changed counts, in microseconds. No networks are all; a rate of 0 is no limit.
{{create "api_keys"}} (
    hash     FixedString(32),
    prefix   String,
    name     String,
    networks Array(String),
    rate     Float64,
    burst    UInt32,
    created  DateTime('UTC'),
    revoked  Bool,
    changed  UInt64
) ENGINE = {{engine "changed"}}
ORDER BY hash
{{settings "index"}};
{{distribute "api_keys" "cityHash64(hash)"}}

-- What was done in the name of a merchant, and by whom: a key, a session or the operator. detail
-- never has a secret.
{{create "merchant_audit"}} (
    merchant FixedString(16),
    at       DateTime64(6, 'UTC'),
    what     LowCardinality(String),
    who      String,
    detail   String,
    changed  UInt64
) ENGINE = {{engine "changed"}}
ORDER BY (merchant, at, what, who)
{{settings "index"}};
{{distribute "merchant_audit" "cityHash64(merchant)"}}

-- Sessions of the dashboard. Of the cookie there is only its SHA-256. The row with the greatest
-- changed counts, in microseconds.
{{create "merchant_sessions"}} (
    hash     FixedString(32),
    merchant FixedString(16),
    created  DateTime64(6, 'UTC'),
    expires  DateTime64(6, 'UTC'),
    ended    Bool,
    changed  UInt64
) ENGINE = {{engine "changed"}}
ORDER BY hash
TTL toDateTime(expires) + INTERVAL 30 DAY
{{settings "index"}};
{{distribute "merchant_sessions" "cityHash64(hash)"}}

-- The attempts of each delivery: of the rows of one the one with the greatest changed counts, in
-- microseconds. The first row is written before the request and has ended 1970; one that stays is
-- that of a sender that was killed. kind is auto, manual, test, or interrupted for one that its sender did not
-- end, which is made again with the same number. The columns named …_us are phases in microseconds, 0
-- for those that there were none of. class is empty for a success. Headers are lines, bodies as they
-- came, both cut to a limit. key_id tells which secret signed.
{{create "delivery_attempts"}} (
    merchant         FixedString(16),
    event            FixedString(16),
    began            DateTime64(6, 'UTC'),
    number           UInt16,
    kind             LowCardinality(String),
    ended            DateTime64(6, 'UTC'),
    dns_us           UInt32,
    connect_us       UInt32,
    tls_us           UInt32,
    first_byte_us    UInt32,
    total_us         UInt32,
    remote           String,
    code             UInt16,
    class            LowCardinality(String),
    text             String,
    request_headers  String CODEC(ZSTD(3)),
    response_headers String CODEC(ZSTD(3)),
    response_body    String CODEC(ZSTD(3)),
    key_id           LowCardinality(String),
    expires          DateTime('UTC'),
    changed          UInt64
) ENGINE = {{engine "changed"}}
ORDER BY (merchant, event, began)
TTL expires
{{settings "contracts"}};
{{distribute "delivery_attempts" "cityHash64(merchant)"}}

-- What merchants are told: the ends of registered payments, and test sends. event is the id of the
-- event, reference the UUID of the payment. body is the request's body, to the byte. happened is the
-- time of the block of the transaction that decided, detected when the sender got to know of it. All
-- rows of an event say the same. Those of tests are deleted when they expire; what a payment came to is
-- kept for ever.
{{create "events"}} (
    merchant   FixedString(16),
    event      FixedString(16),
    reference  FixedString(16),
    body_hash  FixedString(32),
    tx_hash    FixedString(32),
    trace_id   FixedString(32),
    mc_seqno   UInt32,
    status     LowCardinality(String),
    error_code Int64,
    has_error  Bool,
    duplicate  Bool,
    test       Bool,
    body       String CODEC(ZSTD(3)),
    happened   DateTime64(6, 'UTC'),
    detected   DateTime64(6, 'UTC'),
    expires    DateTime('UTC'),
    changed    UInt64,
    INDEX references reference TYPE bloom_filter(0.001) GRANULARITY 1
) ENGINE = {{engine "changed"}}
ORDER BY (merchant, event)
TTL expires WHERE test
{{settings "contracts"}};
{{distribute "events" "cityHash64(merchant)"}}

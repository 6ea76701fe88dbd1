-- How the delivery of each event stands: of the rows of one the one with the greatest changed counts,
-- in microseconds. state is pending, delivered, exhausted, ignored or cancelled, reason says why it is
-- one of the last two. attempts counts those of the schedule. The columns named last_… are those of the
-- last attempt of any kind, last_ended 1970 where there was none. due is when the next attempt is to be
-- made, of pending ones. All rows of a delivery expire at the same time.
{{create "deliveries"}} (
    merchant   FixedString(16),
    happened   DateTime64(6, 'UTC'),
    event      FixedString(16),
    reference  FixedString(16),
    body_hash  FixedString(32),
    tx_hash    FixedString(32),
    trace_id   FixedString(32),
    mc_seqno   UInt32,
    status     LowCardinality(String),
    test       Bool,
    detected   DateTime64(6, 'UTC'),
    state      LowCardinality(String),
    reason     LowCardinality(String),
    attempts   UInt32,
    due        DateTime64(6, 'UTC'),
    last_ended DateTime64(6, 'UTC'),
    last_code  UInt16,
    last_class LowCardinality(String),
    last_us    UInt32,
    expires    DateTime('UTC'),
    changed    UInt64,
    INDEX states state TYPE set(8) GRANULARITY 1
) ENGINE = {{engine "changed"}}
ORDER BY (merchant, happened, event)
TTL expires
{{settings "index"}};
{{distribute "deliveries" "cityHash64(merchant)"}}

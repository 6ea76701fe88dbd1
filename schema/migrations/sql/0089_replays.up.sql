-- Deliveries of a range of time that a merchant has made again: of the rows of one the one with the
-- greatest changed counts. found counts the deliveries, done those that were tried, delivered
-- those that were taken. state is running, done, failed or cancelled.
{{create "replays"}} (
    merchant   FixedString(16),
    replay     FixedString(16),
    range_from DateTime64(6, 'UTC'),
    range_to   DateTime64(6, 'UTC'),
    states     Array(LowCardinality(String)),
    found      UInt64,
    done       UInt64,
    delivered  UInt64,
    state      LowCardinality(String),
    created    DateTime64(6, 'UTC'),
    reported   DateTime64(6, 'UTC'),
    expires    DateTime('UTC'),
    changed    UInt64
) ENGINE = {{engine "changed"}}
ORDER BY (merchant, replay)
TTL expires
{{settings "index"}};
{{distribute "replays" "cityHash64(merchant)"}}

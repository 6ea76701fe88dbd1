-- How often a key was used, by day and method. Each process of query writes its own count
-- again as it grows: the greatest of a process counts, and processes add up.
{{create "api_usage"}} (
    hash     FixedString(32),
    day      Date,
    method   LowCardinality(String),
    process  UInt64,
    requests UInt64,
    limited  UInt64,
    last     DateTime('UTC')
) ENGINE = {{engine "requests"}}
ORDER BY (hash, day, method, process)
{{settings "index"}};
{{distribute "api_usage" "cityHash64(hash)"}}

{{drop "repairs"}}
-- When rows of a table were brought back: whoever looks after the tables takes it for whole
-- from then on.
{{create "repairs"}} (
    name LowCardinality(String),
    at   DateTime64(6, 'UTC')
) ENGINE = {{engine "at"}}
ORDER BY name
{{settings "index"}};
{{distribute "repairs" "cityHash64(name)"}}

-- Actions in the order of the ends of their traces: all of them, and those that concern an account.
-- list is the number of a list (schema.TraceList), number that of the action in its trace, as in
-- actions, which is the order by end_lt, and time_number that in the order of end_utime and id. type is
-- the number of a type (schema.ActionType). An action is seen by clients of the versions of
-- supported_action_types from since to until. revision and gone are as in actions. The projection is
-- for lists in the order of time.
{{create "actions_by_list"}} (
    list            UInt64 CODEC(Delta, ZSTD(1)),
    trace_end_lt    UInt64 CODEC(Delta, ZSTD(1)),
    trace_prefix    UInt64 CODEC(ZSTD(1)),
    number          UInt32 CODEC(ZSTD(1)),
    time_number     UInt32 CODEC(ZSTD(1)),
    trace_end_utime UInt32 CODEC(Delta, ZSTD(1)),
    type            UInt32 CODEC(ZSTD(1)),
    since           UInt8 CODEC(ZSTD(1)),
    until           UInt8 CODEC(ZSTD(1)),
    mc_seqno        UInt32 CODEC(Delta, ZSTD(1)),
    revision        UInt32 DEFAULT 0 CODEC(T64, ZSTD(1)),
    gone            UInt8 DEFAULT 0 CODEC(ZSTD(1)),
    PROJECTION by_time (SELECT list, trace_end_utime, trace_prefix, time_number, number, trace_end_lt, type, since, until, mc_seqno, gone ORDER BY list, trace_end_utime, trace_prefix, time_number) WITH SETTINGS (index_granularity = 512)
) ENGINE = {{engine "revision" "gone"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
ORDER BY (list, trace_end_lt, trace_prefix, number)
{{settings "lists"}};
{{distribute "actions_by_list" "trace_prefix"}}

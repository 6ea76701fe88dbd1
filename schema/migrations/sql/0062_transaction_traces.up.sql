-- To which trace a transaction belongs, in the key order of transactions. A transaction comes again
-- when a broken trace turns out to be a part of another one: of its rows the one with the greatest
-- mc_seqno counts. Traces are named by the first 8 bytes of their ids: what shares these by chance is
-- told apart by its times. account_rest is the exclusive or of the other three numbers of the account
-- id: it tells accounts apart whose ids begin alike. The projection has the transactions of a trace.
{{create "transaction_traces"}} (
    workchain            Int32 CODEC(ZSTD(1)),
    account_prefix       UInt64 CODEC(Delta, ZSTD(1)),
    lt                   UInt64 CODEC(Delta, ZSTD(1)),
    account_rest         UInt64 CODEC(Delta, ZSTD(1)),
    mc_seqno             UInt32 CODEC(Delta, ZSTD(1)),
    later                UInt32 CODEC(T64, ZSTD(1)),
    transaction_mc_seqno UInt32 ALIAS toUInt32(mc_seqno - later),
    trace_prefix         UInt64 CODEC(ZSTD(1)),
    PROJECTION by_trace (SELECT trace_prefix, lt, workchain, account_prefix, mc_seqno, later ORDER BY trace_prefix, lt, workchain, account_prefix) WITH SETTINGS (index_granularity = 512)
) ENGINE = {{engine "mc_seqno"}}
PARTITION BY intDiv(mc_seqno, 1000000000)
ORDER BY (workchain, account_prefix, lt, account_rest)
{{settings "states"}};
{{distribute "transaction_traces" "account_prefix"}}

-- What a transaction's trace is named by, so that nobody has to look the trace up: the id behind
-- trace_prefix and the hash of the message that began it, zeros for none. It is empty for the first
-- transaction of a trace, which tells both itself, of a broken trace, which may turn out to be a part
-- of another one, and in rows from before this column: there table traces tells.
{{columns "transaction_traces" "trace_rest String CODEC(ZSTD(1))"}}

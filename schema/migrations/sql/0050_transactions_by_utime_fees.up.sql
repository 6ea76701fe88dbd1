-- What the days' figures are made of, beside the time: whether a transaction was aborted, and what
-- it paid, in nanotons. forward_fees is all that its outbound messages pay, action_fees the part of
-- it that the transaction keeps.
{{columns "transactions_by_utime" "aborted Bool CODEC(ZSTD(1))" "total_fees UInt64 CODEC(T64, ZSTD(1))" "storage_fees UInt64 CODEC(T64, ZSTD(1))" "gas_fees UInt64 CODEC(T64, ZSTD(1))" "action_fees UInt64 CODEC(T64, ZSTD(1))" "forward_fees UInt64 CODEC(T64, ZSTD(1))"}}

-- Where blocks lie in blocks, by each way to look for them:
--   id     workchain, shard, seqno; key is 0
--   hash   key is the first 8 bytes of the root hash or of the file hash, a row for each
--   utime  key is gen_utime
--   lt     key is start_lt
-- One table for all of them: a bundle at the head is then one insert, which costs what each of
-- several small ones would.
{{create "blocks_index"}} (
    path      Enum8('id' = 1, 'hash' = 2, 'utime' = 3, 'lt' = 4),
    key       UInt64 CODEC(Delta, ZSTD(1)),
    workchain Int32 CODEC(ZSTD(1)),
    shard     UInt64 CODEC(ZSTD(1)),
    seqno     UInt32 CODEC(Delta, ZSTD(1)),
    mc_seqno  UInt32 CODEC(Delta, ZSTD(1))
) ENGINE = {{engine}}
ORDER BY (path, key, workchain, shard, seqno, mc_seqno)
{{settings "index"}};
{{distribute "blocks_index" "mc_seqno"}}

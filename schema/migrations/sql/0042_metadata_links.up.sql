-- The links in contents of jetton masters, NFT collections and NFT items, by the bundle with which
-- the contract became known or changed: what the fetcher of documents reads from where it was on.
{{create "metadata_links"}} (
    mc_seqno UInt32 CODEC(Delta, ZSTD(1)),
    link     String CODEC(ZSTD(1))
) ENGINE = {{engine}}
PRIMARY KEY mc_seqno
ORDER BY (mc_seqno, link)
{{settings "index"}};
{{distribute "metadata_links" "cityHash64(link)"}}

-- Payments as merchants have registered them; a row never changes. reference is a UUID of version
-- 7, so that it tells their order, too. asset is empty for the native coin, else the jetton master
-- as workchain and id (36 bytes), as are sender and recipient; sender_wallet and recipient_wallet
-- are their jetton wallets, empty for the native coin. The texts are as the merchant wrote them.
-- The projections find the payment of a signed body, and those of a merchant.
{{create "payments"}} (
    reference            FixedString(16),
    merchant             FixedString(16),
    body_hash            FixedString(32),
    asset                String CODEC(ZSTD(1)),
    amount               UInt256 CODEC(ZSTD(1)),
    sender               FixedString(36),
    recipient            FixedString(36),
    sender_wallet        String CODEC(ZSTD(1)),
    recipient_wallet     String CODEC(ZSTD(1)),
    sender_text          String CODEC(ZSTD(1)),
    recipient_text       String CODEC(ZSTD(1)),
    query_id             Nullable(UInt64) CODEC(ZSTD(1)),
    comment_to_sender    String CODEC(ZSTD(1)),
    comment_to_recipient String CODEC(ZSTD(1)),
    ticker               String CODEC(ZSTD(1)),
    decimals             UInt8 CODEC(ZSTD(1)),
    created              DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    changed              UInt64 CODEC(ZSTD(1)),
    PROJECTION by_body (SELECT body_hash, reference ORDER BY body_hash),
    PROJECTION by_merchant (SELECT merchant, reference ORDER BY merchant, reference)
) ENGINE = {{engine "changed"}}
ORDER BY reference
{{settings "states"}};
{{distribute "payments" "cityHash64(reference)"}}

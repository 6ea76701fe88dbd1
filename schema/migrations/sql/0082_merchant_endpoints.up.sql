-- Where webhooks of a merchant go, and what signs them. Secrets are sealed with AES-GCM; empty is
-- none. next_secret becomes the secret at switch_at at the latest; old_secret, which it was before,
-- may come back until undo_until. signing_key is the sealed API key, and key_hash its SHA-256, where
-- signing is 'key'. The row with the greatest changed counts, in microseconds.
{{create "merchant_endpoints"}} (
    merchant        FixedString(16),
    url             String,
    enabled         Bool,
    disabled_reason String,
    signing         LowCardinality(String),
    secret          String,
    next_secret     String,
    old_secret      String,
    signing_key     String,
    key_hash        FixedString(32),
    switch_at       DateTime64(6, 'UTC'),
    undo_until      DateTime64(6, 'UTC'),
    changed         UInt64
) ENGINE = {{engine "changed"}}
ORDER BY merchant
{{settings "index"}};
{{distribute "merchant_endpoints" "cityHash64(merchant)"}}

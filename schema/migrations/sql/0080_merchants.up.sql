-- Merchants, who register payments and are told of their ends. Of the token that opens the
-- dashboard there is only its SHA-256. native_wallet is the recipient of payments in the native
-- coin that name none, as text, empty for none. The row with the greatest changed counts, in
-- microseconds.
{{create "merchants"}} (
    merchant      FixedString(16),
    name          String,
    token_hash    FixedString(32),
    native_wallet String,
    created       DateTime64(6, 'UTC'),
    disabled      Bool,
    changed       UInt64
) ENGINE = {{engine "changed"}}
ORDER BY merchant
{{settings "index"}};
{{distribute "merchants" "cityHash64(merchant)"}}

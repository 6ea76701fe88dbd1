{{drop "merchant_sessions"}}

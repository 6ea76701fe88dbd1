{{drop "merchant_audit"}}

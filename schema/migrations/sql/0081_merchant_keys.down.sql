{{drop "merchant_keys"}}

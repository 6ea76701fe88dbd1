{{drop "merchant_endpoints"}}

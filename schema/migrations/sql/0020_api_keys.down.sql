{{drop "api_keys"}}

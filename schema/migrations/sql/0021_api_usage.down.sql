{{drop "api_usage"}}

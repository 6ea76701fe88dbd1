{{dropcolumns "api_keys" "streams" "stream_addresses"}}

-- How many streams a key has at a time, and how many addresses each names; 0 as the server
-- has it.
{{columns "api_keys" "streams UInt32" "stream_addresses UInt32"}}

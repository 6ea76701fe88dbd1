{{drop "messages_by_hash"}}

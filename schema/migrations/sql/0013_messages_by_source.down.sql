{{drop "messages_by_source"}}

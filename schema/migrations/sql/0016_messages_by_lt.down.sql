{{drop "messages_by_lt"}}

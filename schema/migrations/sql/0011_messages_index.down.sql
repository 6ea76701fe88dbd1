{{drop "messages_index"}}

{{drop "messages_by_body"}}

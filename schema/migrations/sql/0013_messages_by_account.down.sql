{{drop "messages_by_account"}}

{{drop "messages_by_destination"}}

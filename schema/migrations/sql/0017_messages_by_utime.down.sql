{{drop "messages_by_utime"}}

{{drop "events"}}

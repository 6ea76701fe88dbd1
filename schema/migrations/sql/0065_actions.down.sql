{{drop "actions"}}

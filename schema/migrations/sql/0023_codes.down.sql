{{drop "codes"}}

{{drop "blocks"}}

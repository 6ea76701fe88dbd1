{{drop "seals"}}

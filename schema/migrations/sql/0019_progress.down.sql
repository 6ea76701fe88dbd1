{{drop "progress"}}

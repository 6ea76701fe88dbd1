{{drop "metadata"}}

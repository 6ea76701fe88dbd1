{{drop "metadata_fetches"}}

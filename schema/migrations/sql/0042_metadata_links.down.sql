{{drop "metadata_links"}}

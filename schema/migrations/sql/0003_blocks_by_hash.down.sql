{{drop "blocks_by_hash"}}

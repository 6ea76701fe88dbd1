{{drop "blocks_by_id"}}

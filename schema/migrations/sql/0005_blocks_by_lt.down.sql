{{drop "blocks_by_lt"}}

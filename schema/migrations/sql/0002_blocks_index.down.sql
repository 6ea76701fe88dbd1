{{drop "blocks_index"}}

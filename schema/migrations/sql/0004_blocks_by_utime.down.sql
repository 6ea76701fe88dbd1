{{drop "blocks_by_utime"}}

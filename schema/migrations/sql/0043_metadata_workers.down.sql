{{drop "metadata_workers"}}

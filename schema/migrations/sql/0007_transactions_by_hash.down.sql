{{drop "transactions_by_hash"}}

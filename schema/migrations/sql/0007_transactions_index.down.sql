{{drop "transactions_index"}}

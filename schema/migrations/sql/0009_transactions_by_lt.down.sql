{{drop "transactions_by_lt"}}

{{drop "transactions_by_utime"}}

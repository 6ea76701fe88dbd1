{{drop "transactions"}}

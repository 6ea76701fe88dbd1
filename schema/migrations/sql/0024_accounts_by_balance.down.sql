{{drop "accounts_by_balance"}}

{{drop "transfers_by_party"}}

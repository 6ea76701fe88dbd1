{{drop "past_contracts"}}

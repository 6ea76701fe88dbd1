{{drop "contracts"}}

{{drop "transaction_traces"}}

{{drop "payments"}}

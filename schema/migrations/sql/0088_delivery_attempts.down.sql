{{drop "delivery_attempts"}}

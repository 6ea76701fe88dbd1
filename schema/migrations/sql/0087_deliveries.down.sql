{{drop "deliveries"}}

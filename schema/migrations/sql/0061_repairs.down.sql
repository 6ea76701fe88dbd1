{{drop "repairs"}}

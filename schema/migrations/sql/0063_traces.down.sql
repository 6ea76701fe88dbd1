{{drop "traces"}}

{{drop "mintless_amounts"}}

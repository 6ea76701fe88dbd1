{{drop "mintless_dumps"}}

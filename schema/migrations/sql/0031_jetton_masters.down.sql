{{drop "jetton_masters"}}

{{drop "jetton_burns"}}

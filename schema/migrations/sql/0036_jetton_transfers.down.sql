{{drop "jetton_transfers"}}

{{drop "jetton_transfers_by_owner"}}

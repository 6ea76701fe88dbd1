{{drop "jetton_wallets"}}

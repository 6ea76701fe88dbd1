package devnet

// checkWallets compares seqnos and wallet ids with what wallets say themselves.
func (w *town) checkWallets() {
	found := w.kinds()
	for kind, accounts := range found {
		name, known := walletTypes[kind]
		rows := w.rows("walletStates", "address", "wallets", "address", accounts)
		said := each(w, accounts, func(raw string) (facts, error) {
			want := facts{"is_wallet": known || kind == "wallet_v5_beta" && rows[raw]["is_wallet"] == true, "balance": balanceOf(w, raw)}
			if !known {
				return want, nil
			}
			want["wallet_type"] = name
			if kind == "wallet_v1r1" {
				return want, nil // has no get-methods
			}
			for method, member := range map[string]string{"seqno": "seqno", "get_subwallet_id": "wallet_id"} {
				result, err := w.call(raw, method)
				if ignoreExit(err) != nil {
					return nil, err
				}
				if err == nil {
					r := reading{ExecutionResult: result}
					want[member] = r.count(0)
					if r.err != nil {
						return nil, r.err
					}
				}
			}
			return want, nil
		})
		w.compareRows("walletStates of "+kind, rows, said)
	}
}

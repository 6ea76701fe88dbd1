{{drop "transactions_by_mc_seqno"}}

package record

// Rows is how many of a record's rows the seal of its bundle counts: in topics of
// transactions, of account states, of what contracts are, of traces, and of payments.
func (r *Record) Rows() uint64 {
	switch c := r.GetContent().(type) {
	case *Record_Transactions:
		return uint64(len(c.Transactions.Transactions))
	case *Record_Accounts:
		return uint64(len(c.Accounts.Accounts))
	case *Record_Contracts:
		return uint64(len(c.Contracts.Past) + len(c.Contracts.Contracts) + len(c.Contracts.JettonTransfers) + len(c.Contracts.JettonBurns) + len(c.Contracts.NftTransfers))
	case *Record_Traces:
		return uint64(len(c.Traces.Traces))
	case *Record_Transfers:
		return uint64(len(c.Transfers.Transfers))
	}
	return 0
}

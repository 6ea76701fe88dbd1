package detect

import (
	"tonscribe/internal/stage"
	"tonscribe/schema/record"
)

// bundle is what the topics have of a bundle, by kind.
type bundle struct {
	mcSeqno, prev uint32
	seal          *record.Seal
	accounts      []*record.Account
	late          []*record.Account
	codes         []*record.Code
	libraries     []*record.Library
	config        []byte
	transactions  []*record.Transaction
}

func newBundle(in *stage.Bundle) *bundle {
	b := &bundle{mcSeqno: in.McSeqno, prev: in.PrevMcSeqno, seal: in.Seal}
	for _, r := range in.Records {
		if batch := r.GetAccounts(); batch != nil {
			b.accounts = append(b.accounts, batch.Accounts...)
			b.bring(batch)
		}
		b.transactions = append(b.transactions, r.GetTransactions().GetTransactions()...)
	}
	return b
}

// bring takes what a seal does not count.
func (b *bundle) bring(batch *record.AccountBatch) {
	b.late = append(b.late, batch.Late...)
	b.codes = append(b.codes, batch.Codes...)
	b.libraries = append(b.libraries, batch.Libraries...)
	if len(batch.Config) > 0 {
		b.config = batch.Config
	}
}

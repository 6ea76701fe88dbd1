package sink

import (
	"fmt"
	"math/big"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// jettonTransfer is a transfer as the tables see it.
type jettonTransfer struct {
	*record.JettonTransfer
	raw       string
	workchain int32
	prefix    uint64 // of the sending wallet
}

func newJettonTransfer(t *record.JettonTransfer, raw []byte) (*jettonTransfer, error) {
	if len(t.SourceWallet) != schema.AddressSize || !fitsNumber(t.Amount) {
		return nil, fmt.Errorf("jetton transfer of %x, lt %d: wallet or amount is none", t.SourceWallet, t.Lt)
	}
	row := &jettonTransfer{JettonTransfer: t, raw: text(raw)}
	row.workchain, row.prefix = address(t.SourceWallet)
	return row, nil
}

// told is nil for an aborted transfer, which no list has.
func (t *jettonTransfer) told() *told {
	if t.Aborted {
		return nil
	}
	return &told{schema.JettonTransfer, t.SourceWallet, t.workchain, t.prefix, t.Lt, t.McSeqno, t.TransactionMcSeqno, t.Now, t.Source, t.Destination, t.Master, t.raw}
}

// jettonTransfers has every transfer.
var jettonTransfers = table[*jettonTransfer]{
	name: "jetton_transfers",
	columns: columnsOf([]column[*jettonTransfer]{
		col("lt", func(t *jettonTransfer) uint64 { return t.Lt }),
		col("workchain", func(t *jettonTransfer) int32 { return t.workchain }),
		col("account_prefix", func(t *jettonTransfer) uint64 { return t.prefix }),
		col("account", func(t *jettonTransfer) []byte { return schema.AccountID(t.SourceWallet) }),
		col("mc_seqno", func(t *jettonTransfer) uint32 { return t.McSeqno }),
		col("transaction_mc_seqno", func(t *jettonTransfer) uint32 { return t.TransactionMcSeqno }),
		col("now", func(t *jettonTransfer) uint32 { return t.Now }),
		col("aborted", func(t *jettonTransfer) bool { return t.Aborted }),
		col("delivery", func(t *jettonTransfer) int8 { return int8(t.Delivery) }),
	}, partyColumns("master", func(t *jettonTransfer) party { return partyOf(t.Master) }), []column[*jettonTransfer]{
		col("source", func(t *jettonTransfer) []byte { return partyOf(t.Source).id }),
		col("destination", func(t *jettonTransfer) []byte { return partyOf(t.Destination).id }),
		col("amount", func(t *jettonTransfer) *big.Int { return number(t.Amount) }),
		col("record", func(t *jettonTransfer) string { return t.raw }),
	}),
}

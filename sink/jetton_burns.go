package sink

import (
	"fmt"
	"math/big"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// jettonBurn is a burn as the tables see it.
type jettonBurn struct {
	*record.JettonBurn
	raw       string
	workchain int32
	prefix    uint64 // of the wallet
}

func newJettonBurn(b *record.JettonBurn, raw []byte) (*jettonBurn, error) {
	if len(b.Wallet) != schema.AddressSize || !fitsNumber(b.Amount) {
		return nil, fmt.Errorf("jetton burn of %x, lt %d: wallet or amount is none", b.Wallet, b.Lt)
	}
	row := &jettonBurn{JettonBurn: b, raw: text(raw)}
	row.workchain, row.prefix = address(b.Wallet)
	return row, nil
}

func (b *jettonBurn) told() *told {
	return &told{schema.JettonBurn, b.Wallet, b.workchain, b.prefix, b.Lt, b.McSeqno, b.TransactionMcSeqno, b.Now, b.Owner, nil, b.Master, b.raw}
}

// jettonBurns has every burn.
var jettonBurns = table[*jettonBurn]{
	name: "jetton_burns",
	columns: columnsOf([]column[*jettonBurn]{
		col("lt", func(b *jettonBurn) uint64 { return b.Lt }),
		col("workchain", func(b *jettonBurn) int32 { return b.workchain }),
		col("account_prefix", func(b *jettonBurn) uint64 { return b.prefix }),
		col("account", func(b *jettonBurn) []byte { return schema.AccountID(b.Wallet) }),
		col("mc_seqno", func(b *jettonBurn) uint32 { return b.McSeqno }),
		col("transaction_mc_seqno", func(b *jettonBurn) uint32 { return b.TransactionMcSeqno }),
		col("now", func(b *jettonBurn) uint32 { return b.Now }),
		col("aborted", func(b *jettonBurn) bool { return b.Aborted }),
		col("delivery", func(b *jettonBurn) int8 { return int8(b.Delivery) }),
	},
		partyColumns("master", func(b *jettonBurn) party { return partyOf(b.Master) }),
		partyColumns("owner", func(b *jettonBurn) party { return partyOf(b.Owner) }),
		[]column[*jettonBurn]{
			col("amount", func(b *jettonBurn) *big.Int { return number(b.Amount) }),
			col("record", func(b *jettonBurn) string { return b.raw }),
		}),
}

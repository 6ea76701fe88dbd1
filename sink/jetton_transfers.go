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
	// owner and direction are those of a row by owner.
	owner     party
	direction uint8
}

func newJettonTransfer(t *record.JettonTransfer, raw []byte) (*jettonTransfer, error) {
	if len(t.SourceWallet) != schema.AddressSize || !fitsNumber(t.Amount) {
		return nil, fmt.Errorf("jetton transfer of %x, lt %d: wallet or amount is none", t.SourceWallet, t.Lt)
	}
	row := &jettonTransfer{JettonTransfer: t, raw: text(raw)}
	row.workchain, row.prefix = address(t.SourceWallet)
	return row, nil
}

func (t *jettonTransfer) master() party { return partyOf(t.Master) }

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
	}, partyColumns("master", (*jettonTransfer).master), []column[*jettonTransfer]{
		col("source", func(t *jettonTransfer) []byte { return partyOf(t.Source).id }),
		col("destination", func(t *jettonTransfer) []byte { return partyOf(t.Destination).id }),
		col("amount", func(t *jettonTransfer) *big.Int { return number(t.Amount) }),
		col("record", func(t *jettonTransfer) string { return t.raw }),
	}),
}

// Directions of a row by owner, as those of the ends of messages.
const (
	receives = consumed
	sends    = produced
)

// jettonTransfersByOwner has a transfer once for each of its two owners.
var jettonTransfersByOwner = table[*jettonTransfer]{
	name: "jetton_transfers_by_owner",
	each: func(t *jettonTransfer, add func(*jettonTransfer)) {
		for direction, owner := range [][]byte{receives: t.Destination, sends: t.Source} {
			if len(owner) == schema.AddressSize {
				row := *t
				row.owner, row.direction = partyOf(owner), uint8(direction)
				add(&row)
			}
		}
	},
	columns: []column[*jettonTransfer]{
		col("owner_workchain", func(t *jettonTransfer) int32 { return t.owner.workchain }),
		col("owner_prefix", func(t *jettonTransfer) uint64 { return t.owner.prefix }),
		col("lt", func(t *jettonTransfer) uint64 { return t.Lt }),
		col("workchain", func(t *jettonTransfer) int32 { return t.workchain }),
		col("account_prefix", func(t *jettonTransfer) uint64 { return t.prefix }),
		col("direction", func(t *jettonTransfer) uint8 { return t.direction }),
		col("mc_seqno", func(t *jettonTransfer) uint32 { return t.McSeqno }),
		col("transaction_mc_seqno", func(t *jettonTransfer) uint32 { return t.TransactionMcSeqno }),
		col("now", func(t *jettonTransfer) uint32 { return t.Now }),
		col("aborted", func(t *jettonTransfer) bool { return t.Aborted }),
		col("master_workchain", func(t *jettonTransfer) int32 { return t.master().workchain }),
		col("master_prefix", func(t *jettonTransfer) uint64 { return t.master().prefix }),
		col("record", func(t *jettonTransfer) string { return t.raw }),
	},
}

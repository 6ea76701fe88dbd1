package verify

import (
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Columns of the tables of transfers.
var (
	transferLT    = column{name: "lt", value: func(i *item) uint64 { return i.transfer.lt }}
	transferFacts = []column{
		{name: "mc_seqno", value: func(i *item) uint64 { return uint64(i.transfer.mcSeqno) }},
		{name: "transaction_mc_seqno", value: func(i *item) uint64 { return uint64(i.transfer.transactionBundle) }},
		{name: "now", value: func(i *item) uint64 { return uint64(i.transfer.now) }},
		{name: "aborted", value: func(i *item) uint64 { return flag(i.transfer.aborted) }},
	}
	deliveryColumn = column{name: "delivery", form: formEnum, value: func(i *item) uint64 { return uint64(i.transfer.delivery) }}
	transferKey    = []column{transferLT, workchain, accountPrefix, accountOf}
)

func transferFrom(i *item) []byte   { return i.transfer.from }
func transferTo(i *item) []byte     { return i.transfer.to }
func transferParent(i *item) []byte { return i.transfer.parent }
func transferAmount(i *item) []byte { return i.transfer.amount }

// transferTables declare what stands beside the records of transfers, by kind.
var transferTables = [transferKinds]*table{
	jettonTransfer: {name: "jetton_transfers", key: 3, columns: columnsOf(transferKey, transferFacts, []column{deliveryColumn}, party("master", transferParent),
		[]column{idColumn("source", transferFrom), idColumn("destination", transferTo), wide("amount", transferAmount)})},
	jettonBurn: {name: "jetton_burns", key: 3, columns: columnsOf(transferKey, transferFacts, []column{deliveryColumn}, party("master", transferParent),
		party("owner", transferFrom), []column{wide("amount", transferAmount)})},
	nftTransfer: {name: "nft_transfers", key: 3, columns: columnsOf(transferKey, transferFacts, party("collection", transferParent),
		party("old_owner", transferFrom), party("new_owner", transferTo))},
}

// transferItem reads a record of a table of transfers; nil for one that misses
// what tables need.
func transferItem(kind transferKind, raw []byte) *item {
	var t *transfer
	var err error
	switch kind {
	case jettonTransfer:
		r := new(record.JettonTransfer)
		err = r.UnmarshalVT(raw)
		t = transferOfJetton(r)
	case jettonBurn:
		r := new(record.JettonBurn)
		err = r.UnmarshalVT(raw)
		t = transferOfBurn(r)
	case nftTransfer:
		r := new(record.NFTTransfer)
		err = r.UnmarshalVT(raw)
		t = transferOfItem(r)
	}
	if err != nil || len(t.account) != schema.AddressSize {
		return nil
	}
	i := &item{transfer: t, workchain: schema.Workchain(t.account), id: schema.AccountID(t.account)}
	i.prefix = schema.Prefix(i.id)
	return i
}

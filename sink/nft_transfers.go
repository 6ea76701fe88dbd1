package sink

import (
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// nftTransfer is a transfer of an item as the tables see it.
type nftTransfer struct {
	*record.NFTTransfer
	raw       string
	workchain int32
	prefix    uint64 // of the item
}

func newNFTTransfer(t *record.NFTTransfer, raw []byte) (*nftTransfer, error) {
	if len(t.Item) != schema.AddressSize {
		return nil, fmt.Errorf("transfer of NFT item %x, lt %d: the item has no address", t.Item, t.Lt)
	}
	row := &nftTransfer{NFTTransfer: t, raw: text(raw)}
	row.workchain, row.prefix = address(t.Item)
	return row, nil
}

func (t *nftTransfer) told() *told {
	return &told{schema.NFTTransfer, t.Item, t.workchain, t.prefix, t.Lt, t.McSeqno, t.TransactionMcSeqno, t.Now, t.OldOwner, t.NewOwner, t.Collection, t.raw}
}

// nftTransfers has every transfer of an item.
var nftTransfers = table[*nftTransfer]{
	name: "nft_transfers",
	columns: columnsOf([]column[*nftTransfer]{
		col("lt", func(t *nftTransfer) uint64 { return t.Lt }),
		col("workchain", func(t *nftTransfer) int32 { return t.workchain }),
		col("account_prefix", func(t *nftTransfer) uint64 { return t.prefix }),
		col("account", func(t *nftTransfer) []byte { return schema.AccountID(t.Item) }),
		col("mc_seqno", func(t *nftTransfer) uint32 { return t.McSeqno }),
		col("transaction_mc_seqno", func(t *nftTransfer) uint32 { return t.TransactionMcSeqno }),
		col("now", func(t *nftTransfer) uint32 { return t.Now }),
		col("aborted", func(t *nftTransfer) bool { return t.Aborted }),
	},
		partyColumns("collection", func(t *nftTransfer) party { return partyOf(t.Collection) }),
		partyColumns("old_owner", func(t *nftTransfer) party { return partyOf(t.OldOwner) }),
		partyColumns("new_owner", func(t *nftTransfer) party { return partyOf(t.NewOwner) }),
		[]column[*nftTransfer]{col("record", func(t *nftTransfer) string { return t.raw })}),
}

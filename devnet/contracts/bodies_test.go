package contracts

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Messages that the contracts take and nobody on the devnet sends.

// Stake is what a validator tells the elector.
type Stake struct {
	QueryID   uint64
	Validator [32]byte // public key
	StakeAt   uint32   // active_election_id
	MaxFactor uint32
	ADNL      [32]byte
}

func (s Stake) store(to *cell.Builder) *cell.Cell {
	// The devnet's elector does not check the signature.
	signature := cell.BeginCell().MustStoreSlice(make([]byte, 64), 512).EndCell()
	return to.
		MustStoreSlice(s.Validator[:], 256).
		MustStoreUInt(uint64(s.StakeAt), 32).
		MustStoreUInt(uint64(s.MaxFactor), 32).
		MustStoreSlice(s.ADNL[:], 256).
		MustStoreRef(signature).EndCell()
}

// DNSSetZoneBody is for the root, from its owner. Without a resolver the zone
// goes.
func DNSSetZoneBody(queryID uint64, label string, resolver *address.Address) *cell.Cell {
	return body(0x53ad3d1a, queryID).MustStoreBigUInt(DNSIndex(label), 256).MustStoreAddr(resolver).EndCell()
}

// DNSReleaseBody is for an item that has not been renewed for a year, from
// anybody who bids its lowest price.
func DNSReleaseBody(queryID uint64) *cell.Cell {
	return body(0x4ed14b65, queryID).EndCell()
}

// JettonChangeAdminBody is for the minter, from its admin. Without an admin no
// jettons can be minted any more.
func JettonChangeAdminBody(queryID uint64, admin *address.Address) *cell.Cell {
	return body(0x6501f354, queryID).MustStoreAddr(admin).EndCell()
}

// JettonChangeContentBody is for the minter, from its admin.
func JettonChangeContentBody(queryID uint64, content *cell.Cell) *cell.Cell {
	return body(4, queryID).MustStoreRef(content).EndCell()
}

// JettonChangeMetadataBody makes the content the file of an address of at most
// 110 bytes.
func JettonChangeMetadataBody(queryID uint64, uri string) *cell.Cell {
	return body(0xcb862902, queryID).MustStoreSlice([]byte(uri), uint(len(uri))*8).EndCell()
}

// NFTChangeOwnerBody is for the collection, from its owner.
func NFTChangeOwnerBody(queryID uint64, owner *address.Address) *cell.Cell {
	return body(3, queryID).MustStoreAddr(owner).EndCell()
}

// NFTChangeContentBody is for the collection, from its owner.
func NFTChangeContentBody(queryID uint64, content, common *cell.Cell, royalty Royalty) *cell.Cell {
	return body(4, queryID).MustStoreRef(collectionContent(content, common)).MustStoreRef(royalty.cell()).EndCell()
}

// NFTTransferEditorshipBody is for an item with an editor, from the editor.
// NewOwner is the new editor.
func NFTTransferEditorshipBody(t NFTTransfer) *cell.Cell {
	return transferBody(0x1c04412a, t)
}

// NFTEditContentBody is for an item with an editor, from the editor.
func NFTEditContentBody(queryID uint64, content *cell.Cell) *cell.Cell {
	return body(0x1a0b9d51, queryID).MustStoreRef(content).EndCell()
}

// SBTRequestOwnerBody is for a soul-bound item, from anybody: destination is
// told who the owner is.
func SBTRequestOwnerBody(queryID uint64, destination *address.Address, payload *cell.Cell, withContent bool) *cell.Cell {
	return sbtQuestion(0xd0c3bfea, queryID, destination, payload, withContent)
}

// SBTTakeExcessBody is for a soul-bound item, from its owner.
func SBTTakeExcessBody(queryID uint64) *cell.Cell {
	return body(0xd136d3b3, queryID).EndCell()
}

// PoolProcessWithdrawalsBody is for the pool, from anybody, when no stake is out.
func PoolProcessWithdrawalsBody(queryID uint64, limit uint8) *cell.Cell {
	return body(2, queryID).MustStoreUInt(uint64(limit), 8).EndCell()
}

// PoolValidatorWithdrawBody is for the pool, from its validator.
func PoolValidatorWithdrawBody(queryID uint64, value *big.Int) *cell.Cell {
	return body(5, queryID).MustStoreBigCoins(amount(value)).EndCell()
}

// PoolNewStakeBody is for the pool, from its validator: the pool sends the value
// to the elector.
func PoolNewStakeBody(s Stake, value *big.Int) *cell.Cell {
	return s.store(body(0x4e73744b, s.QueryID).MustStoreBigCoins(amount(value)))
}

// RecoverStakeBody is for the elector, or for a pool to ask the elector.
func RecoverStakeBody(queryID uint64) *cell.Cell {
	return body(0x47657424, queryID).EndCell()
}

// WithdrawBody is for the marketplace, from its owner.
func WithdrawBody(queryID uint64) *cell.Cell {
	return body(2, queryID).EndCell()
}

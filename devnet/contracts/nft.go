package contracts

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Royalty is what TEP-66 tells of a collection: the part Numerator/Denominator
// of each price.
type Royalty struct {
	Numerator, Denominator uint16
	Destination            *address.Address
}

func (r Royalty) cell() *cell.Cell {
	return cell.BeginCell().
		MustStoreUInt(uint64(r.Numerator), 16).
		MustStoreUInt(uint64(r.Denominator), 16).
		MustStoreAddr(r.Destination).EndCell()
}

// NFTCollection is a collection of TEP-62 whose items are deployed by its owner
// in the order of their indexes.
type NFTCollection struct {
	Owner   *address.Address
	Content *cell.Cell // of the collection itself, TEP-64
	// CommonContent stands before each item's own text (SnakeText); nil for items
	// with a whole content of their own.
	CommonContent *cell.Cell
	Royalty       Royalty
	SBT           bool // items are soul-bound, TEP-85
}

func (c NFTCollection) itemCode() string {
	if c.SBT {
		return SBTItemCode
	}
	return NFTItemCode
}

// StateInit begins with no items.
func (c NFTCollection) StateInit() *tlb.StateInit {
	return stateInit(NFTCollectionCode, cell.BeginCell().
		MustStoreAddr(c.Owner).
		MustStoreUInt(0, 64).
		MustStoreRef(collectionContent(c.Content, c.CommonContent)).
		MustStoreRef(Code(c.itemCode())).
		MustStoreRef(c.Royalty.cell()))
}

// Address is where StateInit is deployed.
func (c NFTCollection) Address(workchain int32) *address.Address {
	return AddressOf(workchain, c.StateInit())
}

// Item is what the collection deploys for an index.
func (c NFTCollection) Item(workchain int32, index uint64) NFTItem {
	return NFTItem{Collection: c.Address(workchain), Index: index, SBT: c.SBT}
}

func collectionContent(content, common *cell.Cell) *cell.Cell {
	if common == nil {
		common = cell.BeginCell().EndCell()
	}
	return cell.BeginCell().MustStoreRef(content).MustStoreRef(common).EndCell()
}

// NFTItem is an item before its first message, which comes from the collection.
type NFTItem struct {
	Collection *address.Address
	Index      uint64
	SBT        bool
}

// StateInit is of an item that belongs to nobody yet.
func (i NFTItem) StateInit() *tlb.StateInit {
	return stateInit(NFTCollection{SBT: i.SBT}.itemCode(), cell.BeginCell().
		MustStoreUInt(i.Index, 64).
		MustStoreAddr(i.Collection))
}

// Address is where StateInit is deployed.
func (i NFTItem) Address(workchain int32) *address.Address {
	return AddressOf(workchain, i.StateInit())
}

// NFTInit is what an item is deployed with.
type NFTInit struct {
	Owner   *address.Address
	Content *cell.Cell
	Editor  *address.Address // may change the content; nil: nobody
	Value   *big.Int         // nanotons for the item
}

func (i NFTInit) cell() *cell.Cell {
	builder := cell.BeginCell().MustStoreAddr(i.Owner).MustStoreRef(i.Content)
	if i.Editor != nil {
		builder.MustStoreAddr(i.Editor)
	}
	return builder.EndCell()
}

// SBTInit is what a soul-bound item is deployed with.
type SBTInit struct {
	Owner     *address.Address
	Content   *cell.Cell
	Authority *address.Address // may revoke
	RevokedAt uint64           // Unix time; 0: valid
	Value     *big.Int         // nanotons for the item
}

func (i SBTInit) cell() *cell.Cell {
	return cell.BeginCell().
		MustStoreAddr(i.Owner).
		MustStoreRef(i.Content).
		MustStoreAddr(i.Authority).
		MustStoreUInt(i.RevokedAt, 64).EndCell()
}

// NFTDeployBody is for the collection, from its owner. The index is at most the
// next one.
func NFTDeployBody(queryID, index uint64, init NFTInit) *cell.Cell {
	return deployBody(queryID, index, init.Value, init.cell())
}

// SBTDeployBody is for a collection of soul-bound items, from its owner.
func SBTDeployBody(queryID, index uint64, init SBTInit) *cell.Cell {
	return deployBody(queryID, index, init.Value, init.cell())
}

func deployBody(queryID, index uint64, value *big.Int, init *cell.Cell) *cell.Cell {
	return body(1, queryID).
		MustStoreUInt(index, 64).
		MustStoreBigCoins(amount(value)).
		MustStoreRef(init).EndCell()
}

// NFTBatchDeployBody is for the collection, from its owner: the items with the
// indexes from first on. There must be at least one, and not more than 250.
func NFTBatchDeployBody(queryID, first uint64, items []NFTInit) *cell.Cell {
	dict := numbered(64, first, items, func(item NFTInit) *cell.Builder {
		return cell.BeginCell().MustStoreBigCoins(amount(item.Value)).MustStoreRef(item.cell())
	})
	return body(2, queryID).MustStoreRef(dict.AsCell()).EndCell()
}

// NFTTransfer is the message transfer of TEP-62, from the owner to the item.
type NFTTransfer struct {
	QueryID        uint64
	NewOwner       *address.Address
	Response       *address.Address // gets what is left of the value
	Custom         *cell.Cell
	ForwardValue   *big.Int // nanotons of ownership_assigned; none is sent for 0
	ForwardPayload *cell.Cell
}

// NFTTransferBody is for the item, from its owner.
func NFTTransferBody(t NFTTransfer) *cell.Cell {
	return transferBody(0x5fcc3d14, t)
}

func transferBody(op uint64, t NFTTransfer) *cell.Cell {
	return either(body(op, t.QueryID).
		MustStoreAddr(t.NewOwner).
		MustStoreAddr(t.Response).
		MustStoreMaybeRef(t.Custom).
		MustStoreBigCoins(amount(t.ForwardValue)), t.ForwardPayload).EndCell()
}

// GetStaticDataBody asks an item for its index and collection.
func GetStaticDataBody(queryID uint64) *cell.Cell {
	return body(0x2fcb26a2, queryID).EndCell()
}

// GetRoyaltyParamsBody asks a collection for its royalty.
func GetRoyaltyParamsBody(queryID uint64) *cell.Cell {
	return body(0x693d3950, queryID).EndCell()
}

// SBTProveOwnershipBody is for a soul-bound item, from its owner: destination
// gets the proof.
func SBTProveOwnershipBody(queryID uint64, destination *address.Address, payload *cell.Cell, withContent bool) *cell.Cell {
	return sbtQuestion(0x04ded148, queryID, destination, payload, withContent)
}

func sbtQuestion(op, queryID uint64, destination *address.Address, payload *cell.Cell, withContent bool) *cell.Cell {
	if payload == nil {
		payload = cell.BeginCell().EndCell()
	}
	return body(op, queryID).
		MustStoreAddr(destination).
		MustStoreRef(payload).
		MustStoreBoolBit(withContent).EndCell()
}

// SBTDestroyBody is for a soul-bound item, from its owner.
func SBTDestroyBody(queryID uint64) *cell.Cell {
	return body(0x1f04537a, queryID).EndCell()
}

// SBTRevokeBody is for a soul-bound item, from its authority.
func SBTRevokeBody(queryID uint64) *cell.Cell {
	return body(0x6f89f5e3, queryID).EndCell()
}

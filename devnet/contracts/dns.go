package contracts

import (
	"crypto/sha256"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// DNSRoot is the root of the names of TEP-81; config parameter 4 names its
// account of the masterchain.
type DNSRoot struct {
	Owner *address.Address
	Zones map[string]*address.Address // by top label, "ton"
}

// StateInit knows the zones.
func (r DNSRoot) StateInit() *tlb.StateInit {
	zones := named(r.Zones, func(resolver *address.Address) *cell.Builder { return cell.BeginCell().MustStoreAddr(resolver) })
	return stateInit(DNSRootCode, cell.BeginCell().MustStoreAddr(r.Owner).MustStoreDict(zones))
}

// DNSIndex is the index of a name's item: the hash of its label.
func DNSIndex(label string) *big.Int {
	hash := sha256.Sum256([]byte(label))
	return new(big.Int).SetBytes(hash[:])
}

// DNSCollection is the collection of the names of a zone. CommentBody with a
// label and at least MinPrice opens the auction of a name; later bids go to the
// name's item.
type DNSCollection struct {
	Content     *cell.Cell // TEP-64
	MinPrice    *big.Int
	AuctionTime uint32 // seconds
}

// StateInit has no names yet.
func (c DNSCollection) StateInit() *tlb.StateInit {
	return stateInit(DNSCollectionCode, cell.BeginCell().
		MustStoreRef(c.Content).
		MustStoreRef(Code(DNSItemCode)).
		MustStoreRef(c.terms()))
}

func (c DNSCollection) terms() *cell.Cell {
	return cell.BeginCell().MustStoreBigCoins(amount(c.MinPrice)).MustStoreUInt(uint64(c.AuctionTime), 32).EndCell()
}

// Address is where StateInit is deployed.
func (c DNSCollection) Address(workchain int32) *address.Address {
	return AddressOf(workchain, c.StateInit())
}

// Item is the item of a label.
func (c DNSCollection) Item(workchain int32, label string) DNSItem {
	return DNSItem{Collection: c.Address(workchain), Label: label}
}

// DNSItem is a name before its first message, which comes from the collection.
type DNSItem struct {
	Collection *address.Address
	Label      string
}

// StateInit is of a name that nobody has bid for.
func (i DNSItem) StateInit() *tlb.StateInit {
	return stateInit(DNSItemCode, cell.BeginCell().
		MustStoreBigUInt(DNSIndex(i.Label), 256).
		MustStoreAddr(i.Collection))
}

// Address is where StateInit is deployed.
func (i DNSItem) Address(workchain int32) *address.Address {
	return AddressOf(workchain, i.StateInit())
}

// OwnedStateInit is of a name that has been bought already, for a zerostate.
// Records are by category.
func (i DNSItem) OwnedStateInit(terms DNSCollection, owner *address.Address, lastFillUp uint64, records map[string]*cell.Cell) *tlb.StateInit {
	dict := named(records, func(record *cell.Cell) *cell.Builder { return cell.BeginCell().MustStoreRef(record) })
	return stateInit(DNSItemCode, cell.BeginCell().
		MustStoreBigUInt(DNSIndex(i.Label), 256).
		MustStoreAddr(i.Collection).
		MustStoreAddr(owner).
		MustStoreRef(cell.BeginCell().MustStoreUInt(0, 8).MustStoreDict(dict).EndCell()).
		MustStoreRef(SnakeText(i.Label)).
		MustStoreMaybeRef(nil).
		MustStoreUInt(lastFillUp, 64).
		MustStoreRef(terms.terms()))
}

// Categories of DNS records.
const (
	DNSCategoryWallet       = "wallet"
	DNSCategorySite         = "site"
	DNSCategoryStorage      = "storage"
	DNSCategoryNextResolver = "dns_next_resolver"
)

// DNSWalletRecord is dns_smc_address.
func DNSWalletRecord(to *address.Address) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0x9fd3, 16).MustStoreAddr(to).MustStoreUInt(0, 8).EndCell()
}

// DNSSiteRecord is dns_adnl_address.
func DNSSiteRecord(adnl [32]byte) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0xad01, 16).MustStoreSlice(adnl[:], 256).MustStoreUInt(0, 8).EndCell()
}

// DNSStorageRecord is dns_storage_address.
func DNSStorageRecord(bag [32]byte) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0x7473, 16).MustStoreSlice(bag[:], 256).EndCell()
}

// DNSNextResolverRecord is dns_next_resolver.
func DNSNextResolverRecord(resolver *address.Address) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0xba93, 16).MustStoreAddr(resolver).EndCell()
}

// DNSTextRecord is dns_text, of at most 120 bytes.
func DNSTextRecord(text string) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0x1eda, 16).
		MustStoreUInt(1, 8).
		MustStoreUInt(uint64(len(text)), 8).
		MustStoreSlice([]byte(text), uint(len(text))*8).EndCell()
}

// DNSChangeRecordBody is for the item, from its owner. Without a record the
// category's goes.
func DNSChangeRecordBody(queryID uint64, category string, record *cell.Cell) *cell.Cell {
	builder := body(0x4eb1f0f9, queryID).MustStoreBigUInt(DNSIndex(category), 256)
	if record != nil {
		builder.MustStoreRef(record)
	}
	return builder.EndCell()
}

// DNSRenewBody is for the item, from its owner: a year more.
func DNSRenewBody(queryID uint64) *cell.Cell {
	return body(0x4eb1f0f9, queryID).MustStoreBigUInt(new(big.Int), 256).EndCell()
}

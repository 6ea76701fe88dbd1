// Package contracts holds the devnet's contracts: in come owners, amounts and
// contents, out go state inits, addresses and message bodies. The contracts are
// ours (src, compiled to compiled); wallets are the public ones. Equal arguments
// give equal cells: nothing here reads a clock or a source of chance.
//
// Amounts are in nanotons or in the smallest unit of a jetton; a nil amount is 0
// and a nil address is addr_none. A value that does not fit its field is a
// mistake of the caller and panics.
package contracts

//go:generate go test -count=1 -run TestCompiledCodesAreThoseOfTheSources . -args -update

import (
	"embed"
	"fmt"
	"math/big"
	"sync"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

//go:embed compiled/*.boc
var compiled embed.FS

// Names of the contracts, as in src.
const (
	JettonMinterCode  = "jetton_minter"
	JettonWalletCode  = "jetton_wallet"
	JettonTollCode    = "jetton_wallet_toll"
	NFTCollectionCode = "nft_collection"
	NFTItemCode       = "nft_item"
	SBTItemCode       = "sbt_item"
	SaleCode          = "nft_sale"
	AuctionCode       = "nft_auction"
	MarketplaceCode   = "marketplace"
	DNSRootCode       = "dns_root"
	DNSCollectionCode = "dns_collection"
	DNSItemCode       = "dns_item"
	MultisigCode      = "multisig"
	MultisigOrderCode = "multisig_order"
	VestingCode       = "vesting"
	NominatorPoolCode = "nominator_pool"
	ElectorCode       = "elector"
	ConfigCode        = "config"
	ForwarderCode     = "forwarder"
	EndlessCode       = "endless"
	BombCode          = "bomb"

	ExchangeFactoryCode = "exchange_factory"
	ExchangeBlankCode   = "exchange_blank"
	ExchangeVaultCode   = "exchange_vault"
	ExchangePoolCode    = "exchange_pool"
	ExchangeDepositCode = "exchange_deposit"
)

var codes sync.Map // name -> *cell.Cell

// Code is the compiled code of a contract of src. A name that is not there
// panics.
func Code(name string) *cell.Cell {
	if known, ok := codes.Load(name); ok {
		return known.(*cell.Cell)
	}
	data, err := compiled.ReadFile("compiled/" + name + ".boc")
	if err != nil {
		panic(fmt.Sprintf("contract %s: %v", name, err))
	}
	code, err := cell.FromBOC(data)
	if err != nil {
		panic(fmt.Sprintf("contract %s: %v", name, err))
	}
	codes.Store(name, code)
	return code
}

// AddressOf is where a state init is deployed.
func AddressOf(workchain int32, init *tlb.StateInit) *address.Address {
	return address.NewAddress(0, byte(workchain), StateInitCell(init).Hash())
}

// StateInitCell is a state init as a cell, as some messages carry it.
func StateInitCell(init *tlb.StateInit) *cell.Cell { return toCell(init) }

// toCell writes what always has a form in TL-B.
func toCell(value any) *cell.Cell {
	root, err := tlb.ToCell(value)
	must(err)
	return root
}

func stateInit(code string, data *cell.Builder) *tlb.StateInit {
	return &tlb.StateInit{Code: Code(code), Data: data.EndCell()}
}

// body begins a message with its number and query ID.
func body(op, queryID uint64) *cell.Builder {
	return cell.BeginCell().MustStoreUInt(op, 32).MustStoreUInt(queryID, 64)
}

// numbered is a dictionary of values by numbers of so many bits, from first on.
func numbered[T any](bits uint, first uint64, values []T, store func(T) *cell.Builder) *cell.Dictionary {
	dict := cell.NewDict(bits)
	for i, value := range values {
		must(dict.SetBuilder(cell.BeginCell().MustStoreUInt(first+uint64(i), bits).EndCell(), store(value)))
	}
	return dict
}

// named is a dictionary of values by the hashes of their names.
func named[T any](values map[string]T, store func(T) *cell.Builder) *cell.Dictionary {
	dict := cell.NewDict(256)
	for name, value := range values {
		must(dict.SetBuilder(cell.BeginCell().MustStoreBigUInt(DNSIndex(name), 256).EndCell(), store(value)))
	}
	return dict
}

func amount(value *big.Int) *big.Int {
	if value == nil {
		return new(big.Int)
	}
	return value
}

// either stores a forward payload as TEP-74 has it: in place when it is nil, as
// a reference else.
func either(to *cell.Builder, payload *cell.Cell) *cell.Builder {
	if payload == nil {
		return to.MustStoreBoolBit(false)
	}
	return to.MustStoreBoolBit(true).MustStoreRef(payload)
}

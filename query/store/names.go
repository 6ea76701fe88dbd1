package store

import (
	"tonscribe/internal/clickhouse"
	"tonscribe/query/cache"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/reader"
)

// What a caller says to the store, by one name here: it need not import the packages
// below, of which one has the name of what everybody calls a slice.
type (
	// Address is that of an account, Hash a 256-bit value.
	Address = list.Address
	Hash    = list.Hash
	// Code is what is known of a contract's code.
	Code = cache.Code
	// Entry is what an address book says of an account.
	Entry = cache.Entry
	// View is what one request sees, Request what its statements may need together.
	View    = head.View
	Request = reader.Request
	// Page is a part of a list, Range a range of times or lts.
	Page  = list.Page
	Range = list.Span

	// Direction is the side of a message or of a transfer.
	Direction = list.Direction

	// Filters of lists, and keys of what is in them.

	BlockFilter         = list.BlockFilter
	BlockKey            = list.BlockKey
	TransactionFilter   = list.TransactionFilter
	TransactionKey      = list.TransactionKey
	MessageFilter       = list.MessageFilter
	MessageKey          = list.MessageKey
	TransferFilter      = list.TransferFilter
	TransferKey         = list.TransferKey
	ContractKey         = list.ContractKey
	JettonMasterFilter  = list.JettonMasterFilter
	JettonWalletFilter  = list.JettonWalletFilter
	NFTCollectionFilter = list.NFTCollectionFilter
	NFTItemFilter       = list.NFTItemFilter
	MultisigFilter      = list.MultisigFilter
	VestingFilter       = list.VestingFilter
	DNSFilter           = list.DNSFilter
	DNSKey              = list.DNSKey
)

// Directions.
const (
	In     = list.In
	Out    = list.Out
	Either = list.Either
)

// The same for values and functions.
var (
	Everything = list.Everything

	KeyOf             = list.KeyOf
	BlockKeyOf        = list.BlockKeyOf
	JettonTransferKey = list.JettonTransferKey
	JettonBurnKey     = list.JettonBurnKey
	NFTTransferKey    = list.NFTTransferKey
	JettonWalletKey   = list.JettonWalletKey
	ParseNumber       = list.ParseNumber
	Yield             = reader.Yield

	ErrTooHeavy    = clickhouse.ErrTooHeavy
	ErrBusy        = clickhouse.ErrBusy
	ErrUnavailable = clickhouse.ErrUnavailable
	ErrDamaged     = clickhouse.ErrDamaged
)

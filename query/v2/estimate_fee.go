package v2

import (
	"errors"
	"math/big"
	"net/http"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/emulator"
	"tonscribe/query/openapi"
	toncell "tonscribe/ton/cell"
	"tonscribe/ton/tvm"
)

type fees struct {
	_         typed `type:"fees"`
	InForward int64 `json:"in_fwd_fee"`
	Storage   int64 `json:"storage_fee"`
	Gas       int64 `json:"gas_fee"`
	Forward   int64 `json:"fwd_fee"`
}

type queryFees struct {
	_           typed  `type:"query.fees"`
	Source      fees   `json:"source_fees"`
	Destination []fees `json:"destination_fees"`
}

var ignoreSignature = Param{Name: "ignore_chksig", Kind: FlagKind, Default: "true", Description: "let every signature be right"}

var estimateFee = &Method{
	Name: "estimateFee", Tag: tagSend, Summary: "Estimate fee", PostOnly: true,
	Description: "What an external message would cost: it is executed here, on the proven state of the account. A message that is not accepted costs no gas.",
	Params: []Param{
		addressParam("receiver of the message"),
		{Name: "body", Kind: BytesKind, Required: true, Description: "body of the message, a bag of cells"},
		{Name: "init_code", Kind: BytesKind, Description: "code of a contract that is not deployed yet"},
		{Name: "init_data", Kind: BytesKind, Description: "its data"},
		ignoreSignature,
	},
	Parallel: 32,
	Errors:   []Error{*failed("INVALID_BAG_OF_CELLS: <field>"), *failed("INTERNAL: estimate_fee: <reason>")},
	Result:   openapi.TypeOf[queryFees](),
	serve: func(c *call) (any, error) {
		body, code, data, err := c.baggedMessage()
		if err != nil {
			return nil, err
		}
		return c.estimate(c.Values.address("address"), body, code, data, c.flag("ignore_chksig"))
	},
}

// shortNames are what the node library calls the fields.
var shortNames = [3]string{"body", "code", "data"}

// baggedMessage reads body, init_code and init_data; empty ones are nil.
func (c *call) baggedMessage() (body, code, data *cell.Cell, err error) {
	var parts [3]*cell.Cell
	for i, name := range []string{"body", "init_code", "init_data"} {
		bag := c.bytes(name)
		if len(bag) == 0 && i > 0 {
			continue
		}
		if parts[i], err = parseBag(bag, shortNames[i]); err != nil {
			return nil, nil, nil, err
		}
	}
	return parts[0], parts[1], parts[2], nil
}

var errCellObject = &Error{Status: http.StatusBadRequest, Text: "Error while parsing cell object"}

var estimateFeeSimple = &Method{
	Name: "estimateFeeSimple", Tag: tagSend, Summary: "Estimate fee, cells spelt out", PostOnly: true,
	Description: `Like estimateFee, with cells as {"data":{"b64","len"},"refs":[…]}.`,
	Params: []Param{
		addressParam("receiver of the message"),
		{Name: "body", Kind: CellKind, Required: true, Description: "body of the message"},
		{Name: "init_code", Kind: CellKind, Description: "code of a contract that is not deployed yet"},
		{Name: "init_data", Kind: CellKind, Description: "its data"},
		ignoreSignature,
	},
	Parallel: 32,
	Errors:   []Error{*errCellObject},
	Result:   openapi.TypeOf[queryFees](),
	serve: func(c *call) (any, error) {
		body, code, data, err := c.speltMessage()
		if err != nil {
			return nil, err
		}
		return c.estimate(c.Values.address("address"), body, code, data, c.flag("ignore_chksig"))
	},
}

// speltMessage reads body, init_code and init_data; absent ones are nil.
func (c *call) speltMessage() (body, code, data *cell.Cell, err error) {
	var parts [3]*cell.Cell
	for i, name := range []string{"body", "init_code", "init_data"} {
		if !c.sent(name) {
			continue
		}
		if parts[i], err = parseSpelt(c.of(name).json); err != nil {
			return nil, nil, nil, errCellObject
		}
	}
	return parts[0], parts[1], parts[2], nil
}

// externalHeader is ext_in_msg_info from addr_none to an account (TL-B
// CommonMsgInfo).
func externalHeader(to *Address) *cell.Builder {
	return cell.BeginCell().
		MustStoreUInt(0b10_00, 4).
		MustStoreUInt(0b10_0, 3). // addr_std without anycast
		MustStoreInt(int64(to.Workchain), 8).
		MustStoreSlice(to.ID[:], 256).
		MustStoreUInt(0, 4) // import_fee
}

// externalMessage is an external message as clients make it: what fits stands in
// the message's own cell, the rest in references.
func externalMessage(to *Address, body, code, data *cell.Cell) *cell.Cell {
	b := externalHeader(to)
	if code == nil && data == nil {
		b.MustStoreBoolBit(false)
	} else {
		init := stateInit(code, data)
		inside := b.BitsLeft() >= 2+init.BitsSize()+body.BitsSize()
		b.MustStoreUInt(0b10|uint64(asNumber(!inside)), 2)
		if inside {
			b.MustStoreBuilder(init.ToBuilder())
		} else {
			b.MustStoreRef(init)
		}
	}
	if body.IsSpecial() || b.BitsLeft() < 1+body.BitsSize() || b.RefsUsed()+int(body.RefsNum()) > 4 {
		return b.MustStoreBoolBit(true).MustStoreRef(body).EndCell()
	}
	return b.MustStoreBoolBit(false).MustStoreBuilder(body.ToBuilder()).EndCell()
}

func stateInit(code, data *cell.Cell) *cell.Cell {
	b := cell.BeginCell().MustStoreUInt(0b00, 2) // no fixed_prefix_length, not special
	for _, c := range []*cell.Cell{code, data} {
		b.MustStoreBoolBit(c != nil)
		if c != nil {
			b.MustStoreRef(c)
		}
	}
	return b.MustStoreBoolBit(false).EndCell()
}

// estimate tries a message on the account as it is.
func (c *call) estimate(to *Address, body, code, data *cell.Cell, ignore bool) (any, error) {
	message := externalMessage(to, body, code, data)
	if err := tvm.CheckMessage(message); err != nil {
		return nil, failed("INTERNAL: estimate_fee: %s", tvm.ErrMessageTooLarge)
	}
	master, err := c.node.Head(c)
	if err != nil {
		return nil, err
	}
	s, err := c.accountAt(master, *to)
	if err != nil {
		return nil, err
	}
	outcome, config, err := c.try(s, message, ignore)
	if err != nil && (config == nil || c.Err() != nil) {
		return nil, err
	}
	if errors.Is(err, emulator.ErrLimits) {
		return nil, failed("INTERNAL: estimate_fee: %s", emulator.ErrLimits)
	}
	if err != nil { // what cannot be executed is not accepted either
		c.report.Log.Debug().Err(err).Str("account", to.lower()).Msg("a message cannot be tried")
	}
	result := queryFees{Source: fees{InForward: inForwardFee(config, s.address.Workchain, message)}}
	if !outcome.Accepted {
		result.Source.Storage = storageDue(config, s)
		return result, nil
	}
	result.Source = fees{
		InForward: outcome.Fees.InForward.Int64(), Storage: outcome.Fees.Storage.Int64(),
		Gas: outcome.Fees.Gas.Int64(), Forward: outcome.Fees.Forward.Int64(),
	}
	return result, nil
}

// try delivers a message to an account and keeps nothing of it.
func (c *call) try(s *accountState, message *cell.Cell, ignore bool) (tvm.Outcome, *tvm.Config, error) {
	config, err := c.tvmConfig(s)
	if err != nil {
		return tvm.Outcome{}, nil, err
	}
	lt := s.last.LT + 1_000_000
	delivery := tvm.Delivery{
		Context: tvm.Context{Config: config, Now: s.utime, LT: lt, BlockLT: lt},
		Address: s.address.tonutils(), LastHash: s.last.Hash, LastLT: s.last.LT,
		Message: message, IgnoreSignature: ignore,
	}
	if s.exists() {
		delivery.Account = s.account.State
	}
	if delivery.Libraries, err = c.codeLibrary(s); err != nil {
		return tvm.Outcome{}, nil, err
	}
	outcome, err := c.emulator.Deliver(c, delivery)
	return outcome, config, err
}

// codeLibrary fetches the library that an account's code is, if it is one.
func (c *call) codeLibrary(s *accountState) ([]*cell.Cell, error) {
	hash, ok := toncell.LibraryOf(s.code())
	if !ok {
		return nil, nil
	}
	library, err := c.library(hash)
	if err != nil || library == nil {
		return nil, err
	}
	libraries := newLibraryDictionary()
	err = libraries.add(hash, library)
	return libraries.roots(), err
}

// inForwardFee is the price of an external message's way to its account, from
// its size without the root cell.
func inForwardFee(config *tvm.Config, workchain int32, message *cell.Cell) int64 {
	prices, err := tlb.BlockchainConfig{Root: config.Root()}.GetMsgForwardPrices(workchain == masterWorkchain)
	if err != nil {
		return 0 // the network has none
	}
	counted, err := toncell.SizeOf(tvm.MaxMessageCells, message)
	if err != nil {
		return 0 // it was refused before
	}
	return prices.ComputeForwardFee(counted.Cells-1, counted.Bits-uint64(message.BitsSize())).Int64()
}

// storageDue is what an account owes for its storage at the time of its state.
func storageDue(config *tvm.Config, s *accountState) int64 {
	if !s.exists() {
		return 0
	}
	info := s.state.StorageInfo
	due, err := tlb.BlockchainConfig{Root: config.Root()}.ComputeStorageFee(
		s.address.Workchain == masterWorkchain, info.LastPaid, s.utime, bigUint(info.StorageUsed.BitsUsed), bigUint(info.StorageUsed.CellsUsed))
	if err != nil {
		return 0 // the network has no storage prices
	}
	return due.Int64()
}

func bigUint(n *big.Int) uint64 {
	if n == nil {
		return 0
	}
	return n.Uint64()
}

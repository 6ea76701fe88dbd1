package node

import (
	"context"
	"errors"
	"math/big"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/emulator"
	toncell "tonscribe/ton/cell"
	"tonscribe/ton/tvm"
)

// Fees are what a message costs its receiver, in nanotons.
type Fees struct{ InForward, Storage, Gas, Forward int64 }

// EstimateFee tries a message on its receiver as it is. A message that is not
// accepted costs no gas.
func (n *Node) EstimateFee(ctx context.Context, body Body, ignoreSignature bool) (*Fees, error) {
	message := body.Message()
	if err := tvm.CheckMessage(message); err != nil {
		return nil, noEstimate(tvm.ErrMessageTooLarge.Error())
	}
	s, err := n.Account(ctx, body.To, nil)
	if err != nil {
		return nil, err
	}
	outcome, config, err := n.try(ctx, s, message, ignoreSignature)
	if err != nil && (config == nil || ctx.Err() != nil) {
		return nil, err
	}
	if errors.Is(err, emulator.ErrLimits) {
		return nil, noEstimate(emulator.ErrLimits.Error())
	}
	if err != nil { // what cannot be executed is not accepted either
		n.report.Log.Debug().Err(err).Stringer("account", body.To).Msg("a message cannot be tried")
	}
	left := tvm.MaxMessageCells
	in, err := wayFee(config, body.To.Workchain(), message, &left)
	if err != nil {
		return nil, err
	}
	fees := &Fees{InForward: in, Storage: storageDue(config, s)}
	if outcome.Accepted {
		fees.InForward, fees.Storage, fees.Gas = outcome.Fees.InForward.Int64(), outcome.Fees.Storage.Int64(), outcome.Fees.Gas.Int64()
	}
	fees.Forward, err = forwardFees(config, body.To.Workchain(), outcome.Actions)
	return fees, err
}

// noEstimate is the answer to a message whose fees are not told.
func noEstimate(reason string) *Error { return failed("INTERNAL: estimate_fee: %s", reason) }

// maxActions is how many actions code may ask for.
const maxActions = 20

var errNoMessage = noEstimate("can't parse send_msg")

// forwardFees are the prices of the way of the messages that an OutList (block.tlb)
// sends, paid for or not.
func forwardFees(config *tvm.Config, workchain int32, actions *cell.Cell) (sum int64, err error) {
	left := tvm.MaxMessageCells
	for count := 0; actions != nil && (actions.BitsSize() > 0 || actions.RefsNum() > 0); count++ {
		if count == maxActions {
			return 0, noEstimate("more than 20 actions")
		}
		const sends, setsCode = 0x0ec3c86d, 0xad4de08e
		r := parse(actions)
		actions = r.ref() // those before
		switch r.Uint(32) {
		case sends:
			r.Skip(8) // mode
			message := r.ref()
			if r.Err() != nil {
				return 0, errNoMessage
			}
			fee, err := forwardFee(config, workchain, message, &left)
			if err != nil {
				return 0, err
			}
			sum += fee
		case setsCode:
			return 0, noEstimate("action_set_code unsupported")
		}
		if r.Err() != nil {
			return 0, noEstimate("action list invalid")
		}
	}
	return sum, nil
}

// forwardFee is the price of the way of a message (TL-B MessageRelaxed): of the cells
// of its state and its body, without the message's own.
func forwardFee(config *tvm.Config, workchain int32, message *cell.Cell, left *int) (int64, error) {
	r, m := parse(message), &Message{}
	if m.external = r.Bit(); m.external {
		m.externalInfo(r)
	} else {
		m.internalInfo(r)
	}
	stateAndBody := r.Rest()
	switch {
	case r.Err() != nil:
		return 0, errNoMessage
	case !m.external && m.Destination == nil:
		return 0, noEstimate("messages with external addresses are unsupported")
	case !m.external && m.Destination.Workchain() == masterWorkchain:
		workchain = masterWorkchain
	}
	return wayFee(config, workchain, stateAndBody, left)
}

// try delivers a message to an account and keeps nothing of it.
func (n *Node) try(ctx context.Context, s *Account, message *cell.Cell, ignoreSignature bool) (tvm.Outcome, *tvm.Config, error) {
	config, err := n.configAt(ctx, s.Master)
	if err != nil {
		return tvm.Outcome{}, nil, err
	}
	lt := s.Last.LT + 1_000_000
	delivery := tvm.Delivery{
		Context: tvm.Context{Config: config, Now: s.Utime, LT: lt, BlockLT: lt},
		Address: ofTonutils(s.Address), LastHash: s.Last.Hash, LastLT: s.Last.LT,
		Message: message, IgnoreSignature: ignoreSignature,
	}
	if s.exists() {
		delivery.Account = s.account.State
	}
	if err := delivery.FindLibraries(func(hashes [][32]byte) ([]*cell.Cell, error) { return n.CodeLibraries(ctx, hashes) }); err != nil {
		return tvm.Outcome{}, nil, err
	}
	outcome, err := n.emulator.Deliver(ctx, delivery)
	return outcome, config, err
}

// wayFee is the price of a message's way, from its size without the root cell. So many
// more cells are counted.
func wayFee(config *tvm.Config, workchain int32, message *cell.Cell, left *int) (int64, error) {
	prices, err := tlb.BlockchainConfig{Root: config.Root()}.GetMsgForwardPrices(workchain == masterWorkchain)
	if err != nil {
		return 0, nil //nolint:nilerr // the network has none
	}
	counted, err := toncell.SizeOf(*left, message)
	if err != nil {
		return 0, noEstimate(tvm.ErrMessageTooLarge.Error())
	}
	*left -= int(counted.Cells)
	return prices.ComputeForwardFee(counted.Cells-1, counted.Bits-uint64(message.BitsSize())).Int64(), nil
}

// storageDue is what an account owes for its storage at the time of its state.
func storageDue(config *tvm.Config, s *Account) int64 {
	if !s.exists() {
		return 0
	}
	info := s.state.StorageInfo
	due, err := tlb.BlockchainConfig{Root: config.Root()}.ComputeStorageFee(
		s.Address.Workchain() == masterWorkchain, info.LastPaid, s.Utime, bigUint(info.StorageUsed.BitsUsed), bigUint(info.StorageUsed.CellsUsed))
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

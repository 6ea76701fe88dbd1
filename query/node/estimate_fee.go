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
		return nil, failed("INTERNAL: estimate_fee: %s", tvm.ErrMessageTooLarge)
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
		return nil, failed("INTERNAL: estimate_fee: %s", emulator.ErrLimits)
	}
	if err != nil { // what cannot be executed is not accepted either
		n.report.Log.Debug().Err(err).Stringer("account", body.To).Msg("a message cannot be tried")
	}
	if !outcome.Accepted {
		return &Fees{InForward: inForwardFee(config, body.To.Workchain(), message), Storage: storageDue(config, s)}, nil
	}
	return &Fees{
		InForward: outcome.Fees.InForward.Int64(), Storage: outcome.Fees.Storage.Int64(),
		Gas: outcome.Fees.Gas.Int64(), Forward: outcome.Fees.Forward.Int64(),
	}, nil
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
	if delivery.Libraries, err = n.codeLibrary(ctx, s); err != nil {
		return tvm.Outcome{}, nil, err
	}
	outcome, err := n.emulator.Deliver(ctx, delivery)
	return outcome, config, err
}

// codeLibrary fetches the library that an account's code is, if it is one.
func (n *Node) codeLibrary(ctx context.Context, s *Account) ([]*cell.Cell, error) {
	hash, ok := toncell.LibraryOf(s.Code())
	if !ok {
		return nil, nil
	}
	library, err := n.library(ctx, hash)
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

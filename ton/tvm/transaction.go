package tvm

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	machine "github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"github.com/xssnick/tonutils-go/tvm/vm"

	size "tonscribe/ton/cell"
)

// Delivery is a message that is to be tried on an account.
type Delivery struct {
	Context
	// Address is needed for an account that does not exist yet.
	Address *address.Address
	// Account is the Account cell of the shard state, nil for none.
	Account *cell.Cell
	// LastHash and LastLT are the account's last transaction.
	LastHash [32]byte
	LastLT   uint64
	// Message is an external or internal inbound message.
	Message *cell.Cell
	// IgnoreSignature makes every signature check succeed, for fee estimates of
	// messages that are not signed yet.
	IgnoreSignature bool
}

// Outcome is what the message would cause.
type Outcome struct {
	// Accepted is false for an external message that the account refuses;
	// everything below is then empty but ExitCode, GasUsed and Actions.
	Accepted bool
	// ExitCode of the compute phase; Skipped tells that there was none.
	ExitCode int
	Skipped  bool
	GasUsed  int64
	Fees     Fees
	// Actions are what code that ended as it should asks for (TL-B OutList), done or
	// not; nil for none.
	Actions *cell.Cell
	// Transaction is the cell of the transaction, Account the cell of the account
	// after it, Messages what it sends.
	Transaction *cell.Cell
	Account     *cell.Cell
	Messages    []*cell.Cell
}

// Fees in nanotons, as the v2 API's fee estimate names them.
type Fees struct {
	InForward, Storage, Gas *big.Int
}

// Deliver tries a message on an account and keeps nothing of it.
func Deliver(in Delivery) (outcome Outcome, err error) {
	defer contain(&err)
	p, err := in.prepare()
	if err != nil {
		return Outcome{}, err
	}
	done, err := Machine().EmulateTransaction(p.block, p.account, p.message, p.options)
	if err != nil {
		return Outcome{}, fmt.Errorf("message %x: %w", in.Message.Hash(), err)
	}
	outcome = Outcome{ExitCode: int(done.ExitCode), GasUsed: done.GasUsed}
	if vm.IsSuccessExitCode(done.ExitCode) {
		outcome.Actions = done.Actions
	}
	if done.TransactionCell == nil {
		return outcome, nil
	}
	outcome.Accepted, outcome.Transaction = true, done.TransactionCell
	outcome.Account = done.NextAccount.ShardAccount().Account
	for _, sent := range done.OutMessages {
		outcome.Messages = append(outcome.Messages, sent.Cell)
	}
	transaction, err := done.ParseTransaction()
	if err != nil {
		return Outcome{}, err
	}
	outcome.describe(transaction)
	return outcome, nil
}

// prepared is a Delivery as tonutils-go takes it.
type prepared struct {
	block   *machine.BlockContext
	account *machine.PreparedAccount
	message *machine.PreparedMessage
	options machine.TransactionOptions
}

func (in *Delivery) prepare() (p prepared, err error) {
	if in.Config == nil {
		return p, ErrConfigMissing
	}
	p.options = machine.TransactionOptions{LogicalTime: int64(in.LT), SignatureCheckAlwaysSucceed: in.IgnoreSignature}
	block := machine.BlockOptions{Now: in.Now, BlockLT: int64(in.BlockLT), RandSeed: in.Seed[:], Libraries: in.Libraries}
	if in.PrevBlocks != nil {
		if block.PrevBlocks, err = toTuple(in.PrevBlocks); err != nil {
			return p, fmt.Errorf("previous blocks: %w", err)
		}
	}
	if p.block, err = in.Config.prepared.NewBlockContext(block); err != nil {
		return p, err
	}
	if err := CheckMessage(in.Message); err != nil {
		return p, err
	}
	if p.message, err = machine.PrepareMessage(in.Message); err != nil {
		return p, fmt.Errorf("message: %w", err)
	}
	state := in.Account
	if state == nil {
		state = cell.BeginCell().MustStoreBoolBit(false).EndCell()
	}
	to := in.Address
	if to == nil {
		to = p.message.Message().Msg.DestAddr()
	}
	if p.account, err = machine.PrepareAccount(&tlb.ShardAccount{
		Account: state, LastTransHash: in.LastHash[:], LastTransLT: in.LastLT,
	}, to); err != nil {
		return p, fmt.Errorf("account %s: %w", to, err)
	}
	return p, nil
}

// describe reads exit code and fees from the phases of an ordinary transaction.
func (o *Outcome) describe(transaction *tlb.Transaction) {
	o.Fees = Fees{InForward: new(big.Int), Storage: new(big.Int), Gas: new(big.Int)}
	description, ok := transaction.Description.(tlb.TransactionDescriptionOrdinary)
	if !ok {
		return
	}
	o.Fees.InForward.Set(transaction.TotalFees.Coins.Nano())
	if phase := description.StoragePhase; phase != nil {
		o.Fees.Storage = phase.StorageFeesCollected.Nano()
		o.Fees.InForward.Sub(o.Fees.InForward, o.Fees.Storage)
	}
	switch phase := description.ComputePhase.Phase.(type) {
	case tlb.ComputePhaseVM:
		o.ExitCode, o.Fees.Gas = int(phase.Details.ExitCode), phase.GasFees.Nano()
		o.Fees.InForward.Sub(o.Fees.InForward, o.Fees.Gas)
	case tlb.ComputePhaseSkipped:
		o.Skipped = true
	}
	if phase := description.ActionPhase; phase != nil && phase.TotalActionFees != nil {
		o.Fees.InForward.Sub(o.Fees.InForward, phase.TotalActionFees.Nano())
	}
	if bounce := description.BouncePhase; bounce != nil {
		if sent, ok := bounce.Phase.(tlb.BouncePhaseOk); ok {
			o.Fees.InForward.Sub(o.Fees.InForward, sent.MsgFees.Nano())
		}
	}
}

// MaxMessageCells bounds an inbound message, counted as a tree. TON allows 2^13
// distinct cells (config parameter 43), and few of them are shared in a message
// that means something.
const MaxMessageCells = 1 << 16

// ErrMessageTooLarge is returned for a message that is not executed because of
// its size.
var ErrMessageTooLarge = errors.New("the message is too large to be executed")

// CheckMessage is nil for a message, with the code and data that it may bring,
// that is small enough to be executed. It takes time for the distinct cells only.
func CheckMessage(message *cell.Cell) error {
	counted, err := size.SizeOf(MaxMessageCells, message)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrMessageTooLarge, err)
	case counted.TreeCells > MaxMessageCells:
		return fmt.Errorf("%w: more than %d cells as a tree", ErrMessageTooLarge, MaxMessageCells)
	}
	return nil
}

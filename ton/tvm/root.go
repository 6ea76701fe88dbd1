// Package tvm runs TON contracts: get-methods, and transactions that are tried
// out and thrown away. In come code and data (or an account state), the
// blockchain config and the moment; out come exit code, gas and a typed stack,
// or the transaction with its fees. The virtual machine is tonutils-go's; this
// package builds what surrounds it as the official emulator does (register c7,
// gas limits, libraries, the serialized stack) and keeps hostile code within
// its gas, its time and its memory. It must never read or write anything
// outside its arguments: the same input gives the same result.
package tvm

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"tonscribe/ton/code"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	machine "github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"github.com/xssnick/tonutils-go/tvm/vm"
	"github.com/xssnick/tonutils-go/tvm/vmerr"
)

const (
	// DefaultGasLimit is what the official emulator and the lite servers allow
	// a get-method when nobody says otherwise.
	DefaultGasLimit = 1_000_000
	// ExitNotActive is the exit code that lite servers give for a get-method of
	// an account without code.
	ExitNotActive = -256
	// exitOutOfGas is the complement of 13: nobody could catch the exception.
	exitOutOfGas = -14
	// firstSpan is the gas after which a long run looks at its context.
	firstSpan = 1_000_000
)

// ErrConfigMissing is returned for a context without a config: gas prices and
// opcodes depend on it.
var ErrConfigMissing = errors.New("the blockchain config is missing")

// Context is the moment at which code runs.
type Context struct {
	Config *Config
	// Now is the unix time of the block.
	Now uint32
	// LT is the logical time of the transaction, BlockLT that of the block. The
	// official emulator leaves both at zero for get-methods.
	LT, BlockLT uint64
	// Seed is the random seed in c7. For transactions it is the block's seed, of
	// which each account gets its own.
	Seed [32]byte
	// Libraries are dictionaries from hash to library, the masterchain's first.
	Libraries []*cell.Cell
	// PrevBlocks is c7's information about previous blocks, nil where unknown.
	PrevBlocks Tuple
	// ConfigRead, where it is set, is called when code reads the config. Code that
	// asks for prices, which the machine has apart from it, finds none then.
	ConfigRead func()
}

// Input is one call of a get-method.
type Input struct {
	Context
	Address *address.Address
	// Account is an Account cell of a shard state (TL-B Account). When it is set,
	// Code, Data, Balance and Extra are read from it.
	Account *cell.Cell
	Code    *cell.Cell
	Data    *cell.Cell
	Balance *big.Int
	// Extra are the account's extra currencies (HashmapE 32), nil for none.
	Extra *cell.Cell
	// Method is the method's name; when it is empty MethodID counts.
	Method   string
	MethodID int64
	// Stack holds the arguments, the first at the bottom.
	Stack []any
	// GasLimit is DefaultGasLimit when zero.
	GasLimit int64
}

// Result is what a get-method left. A failed method is a Result with its exit
// code, not an error.
type Result struct {
	ExitCode int
	GasUsed  int64
	Steps    uint32
	// Stack is the stack that is left, its top last.
	Stack Tuple
	// MissingLibrary is the hash of the library for want of which the method
	// ended, nil when there is none.
	MissingLibrary *[32]byte
}

// OK reports whether the method ended as it should (exit codes 0 and 1).
func (r Result) OK() bool { return vm.IsSuccessExitCode(int64(r.ExitCode)) }

// StackCell is the stack as TL-B VmStack. It is nil when a value has no such form
// (a continuation) or the stack is too large or too deep for it.
func (r Result) StackCell() *cell.Cell {
	encoded, err := EncodeStack(r.Stack)
	if err != nil {
		return nil
	}
	return encoded
}

// Run calls a get-method. It ends with ctx's error soon after ctx ends: code is
// given gas in spans that double, and starts over in the next one, which nobody
// inside can notice, so that no run outlives its caller by more than it lasted.
func Run(ctx context.Context, in Input) (Result, error) {
	if in.Config == nil {
		return Result{}, ErrConfigMissing
	}
	if in.Account != nil {
		active, err := in.readAccount()
		if err != nil {
			return Result{}, err
		}
		if !active {
			return Result{ExitCode: ExitNotActive}, nil
		}
	}
	if in.Code == nil {
		return Result{ExitCode: ExitNotActive}, nil
	}
	limit := in.GasLimit
	if limit <= 0 {
		limit = DefaultGasLimit
	}
	span := limit
	if ctx.Done() != nil {
		span = min(limit, firstSpan)
	}
	for {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		ended, err := in.execute(span)
		if err != nil {
			return Result{}, err
		}
		if span < limit && ended.ExitCode == exitOutOfGas && ended.Gas.Limit >= span {
			span += min(span, limit-span)
			continue
		}
		return in.result(ended, span)
	}
}

func (in *Input) readAccount() (active bool, err error) {
	var state tlb.AccountState
	if err := tlb.Parse(&state, in.Account); err != nil {
		return false, fmt.Errorf("account state: %w", err)
	}
	if !state.IsValid || state.Status != tlb.AccountStatusActive || state.StateInit == nil {
		return false, nil
	}
	in.Code, in.Data, in.Balance = state.StateInit.Code, state.StateInit.Data, state.Balance.Nano()
	in.Extra = nil
	if !state.ExtraCurrencies.IsEmpty() {
		in.Extra = state.ExtraCurrencies.AsCell()
	}
	if in.Address == nil {
		in.Address = state.Address
	}
	return true, nil
}

func (in *Input) execute(gas int64) (ended *machine.ExecutionResult, err error) {
	defer contain(&err)
	c7, err := in.environment()
	if err != nil {
		return nil, err
	}
	stack := vm.NewStack()
	for i, value := range in.Stack {
		held, err := toMachine(value)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
		if err := stack.PushHostValue(held); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
	}
	method := in.MethodID
	if in.Method != "" {
		method = int64(code.MethodID(in.Method))
	}
	if err := stack.PushInt(big.NewInt(method)); err != nil {
		return nil, err
	}
	return Machine().ExecuteGetMethod(opened(in.Code), in.Data, c7, vm.GasWithLimit(gas, gas), stack,
		machine.ExecutionConfig{Config: in.Config.prepared, Libraries: in.Libraries})
}

// opened is the code to begin with. Where code is a library cell the reference
// begins with a jump to it, and so charges for one; transactions do not.
func opened(code *cell.Cell) *cell.Cell {
	if code.GetType() != cell.LibraryCellType {
		return code
	}
	return cell.BeginCell().MustStoreRef(code).EndCell()
}

func (in *Input) result(ended *machine.ExecutionResult, gas int64) (result Result, err error) {
	defer contain(&err)
	result = Result{ExitCode: int(ended.ExitCode), GasUsed: ended.GasUsed, Steps: ended.Steps}
	if result.Stack, err = fromStack(ended.Stack); err != nil {
		return Result{}, err
	}
	if result.ExitCode == int(vmerr.CodeCellUnderflow) {
		result.MissingLibrary = in.missingLibrary(gas)
	}
	return result, nil
}

// contain turns a panic of the machine or of a conversion into an error: the
// code that runs was written by strangers.
func contain(err *error) {
	if broken := recover(); broken != nil {
		*err = fmt.Errorf("contract code broke the virtual machine: %v", broken)
	}
}

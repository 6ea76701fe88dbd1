package tvm

import (
	"fmt"
	"math/big"

	machine "github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"github.com/xssnick/tonutils-go/tvm/tuple"
)

// contextTag is the first element of TL-B SmartContractInfo.
const contextTag = 0x076ef1ea

// environment builds register c7 for a get-method: one tuple that holds TL-B
// SmartContractInfo and what later versions of the machine (config parameter 8)
// appended to it, with the values that the official emulator gives where no
// message is being processed.
func (in *Input) environment() (tuple.Tuple, error) {
	myself := cell.BeginCell()
	if err := myself.StoreAddr(in.Address); err != nil {
		return tuple.Tuple{}, fmt.Errorf("address: %w", err)
	}
	balance := in.Balance
	if balance == nil {
		balance = new(big.Int)
	}
	values := []any{
		big.NewInt(contextTag),
		new(big.Int), // actions
		new(big.Int), // messages sent
		big.NewInt(int64(in.Now)),
		new(big.Int).SetUint64(in.BlockLT),
		new(big.Int).SetUint64(in.LT),
		new(big.Int).SetBytes(in.Seed[:]),
		tuple.NewTupleValue(balance, optional(in.Extra)),
		myself.ToSlice(),
		in.config(),
	}
	version := in.Config.GlobalVersion()
	if version >= 4 {
		previous, err := in.previousBlocks()
		if err != nil {
			return tuple.Tuple{}, err
		}
		incoming := tuple.NewTupleValue(new(big.Int), nil)
		values = append(values, in.Code, incoming, new(big.Int) /* storage fees */, previous)
	}
	if version >= 6 {
		unpacked, err := in.unpackedConfig()
		if err != nil {
			return tuple.Tuple{}, err
		}
		values = append(values, unpacked, new(big.Int) /* due payment */, in.precompiledGas())
	}
	if version >= 11 {
		values = append(values, noMessage())
	}
	return tuple.NewTupleValue(tuple.NewTupleOwned(values)), nil
}

func (in *Input) previousBlocks() (any, error) {
	if in.PrevBlocks == nil {
		return nil, nil
	}
	blocks, err := toMachine(in.PrevBlocks)
	if err != nil {
		return nil, fmt.Errorf("previous blocks: %w", err)
	}
	return blocks, nil
}

func (in *Input) config() *cell.Cell {
	root := in.Config.Root()
	if in.ConfigRead != nil {
		root = root.WithTrace(cell.NewTrace(cell.TraceHooks{OnLoad: func(*cell.Cell) { in.ConfigRead() }}))
	}
	return root
}

func (in *Input) unpackedConfig() (any, error) {
	if in.ConfigRead != nil {
		return nil, nil
	}
	block, err := in.Config.prepared.NewBlockContext(machine.BlockOptions{Now: max(in.Now, 1)})
	if err != nil {
		return nil, err
	}
	if unpacked, ok := block.UnpackedConfig(); ok {
		return unpacked, nil
	}
	return nil, nil
}

func (in *Input) precompiledGas() any {
	if gas, ok := in.Config.precompiled[in.Code.HashKey()]; ok {
		return new(big.Int).SetUint64(gas)
	}
	return nil
}

// noMessage is the tuple of parameters of an incoming message where there is
// none: bounce, bounced, source, forward fee, lt, time, original value, value,
// extra currencies, state init.
func noMessage() tuple.Tuple {
	source := cell.BeginCell().MustStoreUInt(0, 2).ToSlice()
	return tuple.NewTupleOwned([]any{
		new(big.Int), new(big.Int), source, new(big.Int), new(big.Int), new(big.Int), new(big.Int), new(big.Int), nil, nil,
	})
}

func optional(c *cell.Cell) any {
	if c == nil {
		return nil
	}
	return c
}

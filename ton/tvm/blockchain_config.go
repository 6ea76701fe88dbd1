package tvm

import (
	"fmt"

	"github.com/maypok86/otter/v2"
	"github.com/xssnick/tonutils-go/tlb"
	machine "github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// preparedConfigs is how many configs are kept ready: a network has one at a
// time, readers of history need a few.
const preparedConfigs = 16

// Config is a blockchain config ready for execution. It is immutable.
type Config struct {
	prepared *machine.PreparedBlockchainConfig
	// precompiled is config parameter 45: what such a contract is charged.
	precompiled map[cell.Hash]uint64
}

// Root is the dictionary of parameters.
func (c *Config) Root() *cell.Cell { return c.prepared.Root() }

// GlobalVersion is the version of the virtual machine (config parameter 8).
func (c *Config) GlobalVersion() uint32 { return c.prepared.GlobalVersion() }

// Prepared is the same config for tonutils-go's executor.
func (c *Config) Prepared() *machine.PreparedBlockchainConfig { return c.prepared }

var ready = otter.Must(&otter.Options[cell.Hash, *Config]{MaximumSize: preparedConfigs})

// Prepare makes a config ready for execution: root is the dictionary of
// parameters (HashmapE 32 of references) without the config contract's address.
// Configs that were asked for lately are kept by their root hash.
func Prepare(root *cell.Cell) (*Config, error) {
	if root == nil {
		return nil, ErrConfigMissing
	}
	key := root.HashKey()
	if kept, ok := ready.GetIfPresent(key); ok {
		return kept, nil
	}
	config, err := prepare(root)
	if err != nil {
		return nil, err
	}
	kept, _ := ready.SetIfAbsent(key, config)
	return kept, nil
}

func prepare(root *cell.Cell) (config *Config, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("blockchain config %x: %v", root.Hash(), broken)
		}
	}()
	prepared, err := machine.PrepareBlockchainConfig(root)
	if err != nil {
		return nil, fmt.Errorf("blockchain config %x: %w", root.Hash(), err)
	}
	config = &Config{prepared: prepared, precompiled: map[cell.Hash]uint64{}}
	contracts, err := tlb.BlockchainConfig{Root: root}.GetPrecompiledContractsConfig()
	if err != nil || contracts.List.IsEmpty() {
		return config, nil
	}
	entries, err := contracts.List.LoadAll()
	if err != nil {
		return nil, fmt.Errorf("config parameter 45: %w", err)
	}
	for _, entry := range entries {
		hash, err := entry.Key.LoadSlice(256)
		if err != nil {
			return nil, fmt.Errorf("config parameter 45: %w", err)
		}
		var contract tlb.PrecompiledSmc
		if err := tlb.LoadFromCell(&contract, entry.Value); err != nil {
			return nil, fmt.Errorf("config parameter 45: %w", err)
		}
		config.precompiled[cell.Hash(hash)] = contract.GasUsage
	}
	return config, nil
}

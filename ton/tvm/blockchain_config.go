package tvm

import (
	"container/list"
	"fmt"
	"sync"

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

var ready = struct {
	sync.Mutex
	byRoot map[cell.Hash]*list.Element
	order  list.List
}{byRoot: map[cell.Hash]*list.Element{}}

type readyConfig struct {
	root   cell.Hash
	config *Config
}

// Prepare makes a config ready for execution: root is the dictionary of
// parameters (HashmapE 32 of references) without the config contract's address.
// Configs that were asked for lately are kept by their root hash.
func Prepare(root *cell.Cell) (*Config, error) {
	if root == nil {
		return nil, ErrConfigMissing
	}
	key := root.HashKey()
	ready.Lock()
	if kept := ready.byRoot[key]; kept != nil {
		ready.order.MoveToFront(kept)
		ready.Unlock()
		return kept.Value.(readyConfig).config, nil
	}
	ready.Unlock()
	config, err := prepare(root)
	if err != nil {
		return nil, err
	}
	ready.Lock()
	defer ready.Unlock()
	if kept := ready.byRoot[key]; kept != nil {
		return kept.Value.(readyConfig).config, nil
	}
	ready.byRoot[key] = ready.order.PushFront(readyConfig{key, config})
	for ready.order.Len() > preparedConfigs {
		oldest := ready.order.Back()
		delete(ready.byRoot, ready.order.Remove(oldest).(readyConfig).root)
	}
	return config, nil
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

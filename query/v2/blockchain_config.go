package v2

import (
	"errors"
	"sync"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/tvm"
)

// blockchainConfig is the configuration after a masterchain block.
type blockchainConfig struct {
	*tvm.Config
}

// configs keeps configurations by the key block that they came with: between
// two key blocks nothing changes.
type configs struct {
	mu    sync.Mutex
	byKey map[uint32]*blockchainConfig
	keys  map[uint32]uint32 // the key block of a masterchain block
}

func newConfigs() *configs {
	return &configs{byKey: map[uint32]*blockchainConfig{}, keys: map[uint32]uint32{}}
}

// Those that are kept: a network has one at a time, readers of history more.
const (
	keptConfigs = 16
	keptKeys    = 1 << 14
)

func (k *configs) keyOf(master uint32) (uint32, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok := k.keys[master]
	return key, ok
}

func (k *configs) find(key uint32) *blockchainConfig {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byKey[key]
}

func (k *configs) addKey(master, key uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.keys) >= keptKeys {
		clear(k.keys)
	}
	k.keys[master] = key
}

func (k *configs) add(key uint32, config *blockchainConfig) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.byKey) >= keptConfigs {
		clear(k.byKey)
	}
	k.byKey[key] = config
}

// config is the configuration after a masterchain block.
func (c *call) config(master *ton.BlockIDExt) (*blockchainConfig, error) {
	key, err := c.keyBlock(master)
	if err != nil {
		return nil, err
	}
	if kept := c.configs.find(key); kept != nil {
		return kept, nil
	}
	root, err := c.node.Config(c, master)
	if err != nil {
		return nil, err
	}
	prepared, err := tvm.Prepare(root)
	if err != nil {
		return nil, err
	}
	config := &blockchainConfig{prepared}
	c.configs.add(key, config)
	return config, nil
}

// keyBlock is the newest key block up to a masterchain block.
func (c *call) keyBlock(master *ton.BlockIDExt) (uint32, error) {
	if key, ok := c.configs.keyOf(master.SeqNo); ok {
		return key, nil
	}
	header, err := c.node.Header(c, master)
	if err != nil {
		return 0, err
	}
	key := header.PrevKeyBlockSeqno
	if header.KeyBlock {
		key = master.SeqNo
	}
	c.configs.addKey(master.SeqNo, key)
	return key, nil
}

// param is a parameter's cell, nil when there is none.
func (b *blockchainConfig) param(id uint32) (*cell.Cell, error) { return paramOf(b.Root(), id) }

func paramOf(root *cell.Cell, id uint32) (*cell.Cell, error) {
	value, err := root.AsDict(32).LoadValue(cell.BeginCell().MustStoreUInt(uint64(id), 32).EndCell())
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return value.LoadRefCell()
}

// has says whether a dictionary has a key.
func has(d *cell.Dictionary, key *cell.Cell) (bool, error) {
	_, err := d.LoadValue(key)
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return false, nil
	}
	return err == nil, err
}

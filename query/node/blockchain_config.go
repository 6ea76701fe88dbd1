package node

import (
	"context"
	"errors"
	"sync"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/tvm"
)

// configs keeps configurations by the key block that they came with: between
// two key blocks nothing changes.
type configs struct {
	mu    sync.Mutex
	byKey map[uint32]*tvm.Config
	keys  map[uint32]uint32 // the key block of a masterchain block
}

func newConfigs() *configs {
	return &configs{byKey: map[uint32]*tvm.Config{}, keys: map[uint32]uint32{}}
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

func (k *configs) find(key uint32) *tvm.Config {
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

func (k *configs) add(key uint32, config *tvm.Config) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.byKey) >= keptConfigs {
		clear(k.byKey)
	}
	k.byKey[key] = config
}

// Config returns the configuration after the masterchain block with a seqno, nil for
// the newest one.
func (n *Node) Config(ctx context.Context, seqno *uint32) (*cell.Cell, error) {
	master, err := n.MasterOrHead(ctx, seqno)
	if err != nil {
		return nil, err
	}
	config, err := n.configAt(ctx, master)
	if err != nil {
		return nil, err
	}
	return config.Root(), nil
}

// ConfigParam returns the cell of a parameter, nil when there is none.
func (n *Node) ConfigParam(ctx context.Context, id uint32, seqno *uint32) (*cell.Cell, error) {
	root, err := n.Config(ctx, seqno)
	if err != nil {
		return nil, err
	}
	return paramOf(root, id)
}

func (n *Node) configAt(ctx context.Context, master *ton.BlockIDExt) (*tvm.Config, error) {
	key, err := n.keyBlock(ctx, master)
	if err != nil {
		return nil, err
	}
	if kept := n.configs.find(key); kept != nil {
		return kept, nil
	}
	root, err := n.servers.Config(ctx, master)
	if err != nil {
		return nil, err
	}
	config, err := tvm.Prepare(root)
	if err != nil {
		return nil, err
	}
	n.configs.add(key, config)
	return config, nil
}

// keyBlock is the newest key block up to a masterchain block.
func (n *Node) keyBlock(ctx context.Context, master *ton.BlockIDExt) (uint32, error) {
	if key, ok := n.configs.keyOf(master.SeqNo); ok {
		return key, nil
	}
	header, err := n.servers.Header(ctx, master)
	if err != nil {
		return 0, err
	}
	key := header.PrevKeyBlockSeqno
	if header.KeyBlock {
		key = master.SeqNo
	}
	n.configs.addKey(master.SeqNo, key)
	return key, nil
}

// paramOf is a parameter's cell, nil when there is none.
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

// has reports whether a dictionary has a key.
func has(d *cell.Dictionary, key *cell.Cell) (bool, error) {
	_, err := d.LoadValue(key)
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return false, nil
	}
	return err == nil, err
}

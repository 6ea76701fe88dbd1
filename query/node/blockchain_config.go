package node

import (
	"context"
	"errors"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/tvm"
)

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

// configAt keeps configurations by the key block that they came with: between two
// key blocks nothing changes.
func (n *Node) configAt(ctx context.Context, master *ton.BlockIDExt) (*tvm.Config, error) {
	key, err := n.keys.find(master.SeqNo, func() (uint32, bool, error) {
		header, err := n.servers.Header(ctx, master)
		switch {
		case err != nil:
			return 0, false, err
		case header.KeyBlock:
			return master.SeqNo, true, nil
		}
		return header.PrevKeyBlockSeqno, true, nil
	})
	if err != nil {
		return nil, err
	}
	return n.configs.find(key, func() (*tvm.Config, bool, error) {
		root, err := n.servers.Config(ctx, master)
		if err != nil {
			return nil, false, err
		}
		config, err := tvm.Prepare(root)
		return config, err == nil, err
	})
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

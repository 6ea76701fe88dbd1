package pending

import (
	"context"
	"slices"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	cascade "tonscribe/decode/pending"
	"tonscribe/query/node"
	"tonscribe/ton/address"
	"tonscribe/ton/tvm"
)

// world is the chain as the newest masterchain block leaves it.
type world struct {
	node     Node
	emulator node.Emulator
	moment   *node.Moment
}

var _ cascade.World = (*world)(nil)

// State implements cascade.World.
func (w *world) State(ctx context.Context, account address.Address) (s cascade.State, err error) {
	a, err := w.node.AccountAt(ctx, w.moment, account)
	if err != nil {
		return s, err
	}
	return cascade.State{Account: a.State(), LastLT: a.Last.LT, LastHash: a.Last.Hash}, nil
}

// Libraries implements cascade.World.
func (w *world) Libraries(ctx context.Context, hashes [][32]byte) ([]*cell.Cell, error) {
	return w.node.CodeLibraries(ctx, hashes)
}

// Deliver implements cascade.World.
func (w *world) Deliver(ctx context.Context, in tvm.Delivery) (tvm.Outcome, error) {
	return w.emulator.Deliver(ctx, in)
}

func momentOf(m *node.Moment) cascade.Moment {
	next := cascade.Moment{Config: m.Config, Now: m.Now, LT: m.LT}
	for _, s := range slices.Concat(m.Shards, []*ton.BlockIDExt{m.Master}) {
		next.Shards = append(next.Shards, cascade.Shard{Workchain: s.Workchain, Prefix: uint64(s.Shard)})
	}
	return next
}

package node

import (
	"context"
	"fmt"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
)

// WalletsOf asks a jetton master, in one state of it at the head, for the jetton wallets
// of some owners (TEP-74, get_wallet_address); ErrNoToken where it does not name one.
func (n *Node) WalletsOf(ctx context.Context, master address.Address, owners ...address.Address) ([]address.Address, error) {
	s, err := n.Account(ctx, master, nil)
	if err != nil {
		return nil, err
	}
	if s.Code() == nil {
		return nil, ErrNoToken
	}
	wallets := make([]address.Address, len(owners))
	for i, owner := range owners {
		argument := cell.BeginCell().MustStoreUInt(0b100, 3).MustStoreInt(int64(owner.Workchain()), 8).MustStoreSlice(owner.ID(), 256)
		v, err := n.ask(ctx, s, "get_wallet_address", 1, argument.ToSlice())
		if err != nil {
			return nil, fmt.Errorf("jetton wallet of %s: %w", owner, err)
		}
		if v != nil {
			wallets[i] = v.address(0)
		}
		if v == nil || v.bad {
			return nil, fmt.Errorf("jetton wallet of %s: %w", owner, ErrNoToken)
		}
	}
	return wallets, nil
}

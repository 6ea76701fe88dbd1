package node

import (
	"context"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
)

// WalletOf asks a jetton master at the head for the jetton wallet of an owner (TEP-74,
// get_wallet_address); ErrNoToken where it names none.
func (n *Node) WalletOf(ctx context.Context, master, owner address.Address) (wallet address.Address, err error) {
	s, err := n.Account(ctx, master, nil)
	if err != nil {
		return wallet, err
	}
	if s.Code() == nil {
		return wallet, ErrNoToken
	}
	argument := cell.BeginCell().MustStoreUInt(0b100, 3).MustStoreInt(int64(owner.Workchain()), 8).MustStoreSlice(owner.ID(), 256)
	v, err := n.ask(ctx, s, "get_wallet_address", 1, argument.ToSlice())
	if err != nil {
		return wallet, err
	}
	if v != nil {
		wallet = v.address(0)
	}
	if v == nil || v.bad {
		return wallet, ErrNoToken
	}
	return wallet, nil
}

package lite

import (
	"context"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// BlockOf is the id of a record as lite servers take it.
func BlockOf(id *record.BlockId) *ton.BlockIDExt {
	return &ton.BlockIDExt{Workchain: id.Workchain, Shard: int64(id.Shard), SeqNo: id.Seqno, RootHash: id.RootHash, FileHash: id.FileHash}
}

// AccountSince reads an account of a record after a masterchain block, and where
// no server has that block any more, after the newest one.
func (p *Pool) AccountSince(ctx context.Context, master *record.BlockId, account []byte) (*Account, error) {
	of := address.NewAddress(0, byte(schema.Workchain(account)), schema.AccountID(account))
	found, err := p.Account(ctx, BlockOf(master), of)
	if !IsMissing(err) {
		return found, err
	}
	newest, err := p.Head(ctx)
	if err != nil {
		return nil, err
	}
	return p.Account(ctx, newest, of)
}

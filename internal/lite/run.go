package lite

import (
	"context"
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// RunMethod has a server run a get-method on an account after a block. params is
// the stack (VmStack, a bag of cells). The state that it ran on is proven, what
// came out of it is the server's word.
func (p *Pool) RunMethod(ctx context.Context, block *ton.BlockIDExt, account *address.Address, method uint64, params []byte) (*ton.RunMethodResult, error) {
	query := Query{
		Request: ton.RunSmcMethod{Mode: 0b111, ID: block, Account: *accountID(account), MethodID: method, Params: params},
		Seqno:   masterSeqno(block),
	}
	return checked(ctx, p, query, func(answer any) (*ton.RunMethodResult, error) {
		got, err := as[ton.RunMethodResult]("runSmcMethod", answer)
		if err != nil {
			return nil, err
		}
		if !complete(got.ID) || !got.ID.Equals(block) {
			return nil, fmt.Errorf("runSmcMethod: it is of another block than %s", Format(block))
		}
		proven, err := proveAccount(got.ShardBlock, got.ShardProof, got.Proof, block, account)
		if err != nil {
			return nil, fmt.Errorf("runSmcMethod: %w", err)
		}
		if proven.leaf != nil {
			if got.StateProof == nil {
				return nil, errors.New("runSmcMethod: no proof of the state")
			}
			if _, err := cell.UnwrapProof(got.StateProof, proven.leaf.Account.Hash(0)); err != nil {
				return nil, fmt.Errorf("runSmcMethod: %w", err)
			}
		}
		return &got, nil
	})
}

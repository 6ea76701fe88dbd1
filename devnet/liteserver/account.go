package liteserver

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// standing is an account as a block shows it, with the proofs.
type standing struct {
	id, shard  *ton.BlockIDExt
	shardProof []*cell.Cell // nil when id is the shard's own block
	proof      []*cell.Cell // nil when there is no shard for it
	account    *cell.Cell   // nil when the account does not exist
}

func (c *Component) accountState(_ context.Context, q ton.GetAccountState) (tl.Serializable, error) {
	found, err := c.standing(q.ID, q.Account)
	if err != nil {
		return nil, err
	}
	return ton.AccountState{ID: found.id, Shard: found.shard, ShardProof: found.shardProof, Proof: found.proof, State: found.account}, nil
}

// accountStatePruned gives the account without its code and data: a proof of its
// head.
func (c *Component) accountStatePruned(_ context.Context, q ton.GetAccountStatePruned) (tl.Serializable, error) {
	found, err := c.standing(q.ID, q.Account)
	if err != nil {
		return nil, err
	}
	answer := ton.AccountState{ID: found.id, Shard: found.shard, ShardProof: found.shardProof, Proof: found.proof}
	if found.account != nil {
		if answer.State, err = prove(found.account, func(*cell.Slice) error { return nil }); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// standing looks an account up in the state of a shard block, or of the shard
// block that a masterchain block names.
func (c *Component) standing(id *ton.BlockIDExt, account ton.AccountID) (standing, error) {
	id, err := c.reference(id)
	if err != nil {
		return standing{}, err
	}
	prefix := binary.BigEndian.Uint64(account.ID)
	found := standing{id: id, shard: id}
	switch {
	case id.Workchain == account.Workchain:
		if !holds(uint64(id.Shard), prefix) {
			return standing{}, refuse(codeFatal, "requested account id is not contained in the shard of the reference block")
		}
	case id.Workchain == masterchain && id.SeqNo > 0:
		if err := c.descend(&found, account.Workchain, prefix); err != nil || found.shard == nil {
			found.shard = noBlock()
			return found, err
		}
	default:
		return standing{}, refuse(codeFatal, "reference block for a getAccountState() must belong to the masterchain")
	}
	if found.shard.SeqNo == 0 {
		return standing{}, refuse(codeNotReady, "shard of the account has no blocks yet")
	}
	found.proof, err = c.stateProof(found.shard, func(state *cell.Slice) error {
		found.account, err = visitAccount(state, account.ID)
		return err
	})
	return found, err
}

// descend goes from the masterchain block to the shard that holds prefix. Without
// such a shard found.shard is nil, which the proof shows.
func (c *Component) descend(found *standing, workchain int32, prefix uint64) error {
	commit, err := c.dependencies.History.Commit(found.id.SeqNo)
	if err != nil {
		return err
	}
	found.shard = topFor(commit, workchain, prefix)
	found.shardProof, err = c.stateProof(found.id, func(state *cell.Slice) error {
		_, err := visitShard(state, workchain, prefix)
		if errors.Is(err, errNoShard) {
			return nil
		}
		return err
	})
	return err
}

// visitAccount reads a shard state down to an account. The account's own cells
// stay out of the proof: they are sent beside it. nil when there is none.
func visitAccount(state *cell.Slice, id []byte) (*cell.Cell, error) {
	var shard tlb.ShardStateUnsplit
	if err := tlb.LoadFromCell(&shard, state); err != nil {
		return nil, err
	}
	value, err := shard.Accounts.ShardAccounts.LoadValue(cell.BeginCell().MustStoreSlice(id, 256).EndCell())
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	account, err := value.PeekRefCell()
	if err != nil {
		return nil, err
	}
	return account.WithoutTrace(), nil
}

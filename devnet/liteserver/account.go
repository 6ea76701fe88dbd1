package liteserver

import (
	"context"
	"encoding/binary"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// accountView is an account as a block shows it, with the proofs.
type accountView struct {
	id, shard  *ton.BlockIDExt
	shardProof []*cell.Cell // nil when id is the shard's own block
	proof      []*cell.Cell // nil when there is no shard for it
	account    *cell.Cell   // nil when the account does not exist
}

func (c *Component) accountState(_ context.Context, q ton.GetAccountState) (tl.Serializable, error) {
	found, err := c.view(q.ID, q.Account)
	return ton.AccountState{ID: found.id, Shard: found.shard, ShardProof: found.shardProof, Proof: found.proof, State: found.account}, err
}

// accountStatePruned gives the account without its code and data: a proof of its
// head.
func (c *Component) accountStatePruned(_ context.Context, q ton.GetAccountStatePruned) (tl.Serializable, error) {
	found, err := c.view(q.ID, q.Account)
	if found.account != nil {
		found.account = prove(found.account, func(*cell.Slice) {})
	}
	return ton.AccountState{ID: found.id, Shard: found.shard, ShardProof: found.shardProof, Proof: found.proof, State: found.account}, err
}

// view looks an account up in the state of a shard block, or of the shard
// block that a masterchain block names.
func (c *Component) view(id *ton.BlockIDExt, account ton.AccountID) (accountView, error) {
	id, err := c.reference(id)
	if err != nil {
		return accountView{}, err
	}
	prefix := binary.BigEndian.Uint64(account.ID)
	found := accountView{id: id, shard: id}
	switch {
	case id.Workchain == account.Workchain:
		if !holds(uint64(id.Shard), prefix) {
			return accountView{}, refuse(codeFatal, "requested account id is not contained in the shard of the reference block")
		}
	case id.Workchain == masterchain && id.SeqNo > 0:
		commit, err := c.dependencies.History.Commit(id.SeqNo)
		if err != nil {
			return accountView{}, err
		}
		found.shard = topFor(commit, account.Workchain, prefix)
		found.shardProof, err = c.stateProof(id, func(state *cell.Slice) { visitShard(state, account.Workchain, prefix) })
		if err != nil || found.shard == nil { // the proof shows that there is no such shard
			found.shard = noBlock()
			return found, err
		}
	default:
		return accountView{}, refuse(codeFatal, "reference block for a getAccountState() must belong to the masterchain")
	}
	if found.shard.SeqNo == 0 {
		return accountView{}, refuse(codeNotReady, "shard of the account has no blocks yet")
	}
	found.proof, err = c.stateProof(found.shard, func(state *cell.Slice) { found.account = visitAccount(state, account.ID) })
	return found, err
}

// visitAccount reads a shard state down to an account. The account's own cells
// stay out of the proof: they are sent beside it. nil when there is none.
func visitAccount(state *cell.Slice, id []byte) *cell.Cell {
	value := find(load[tlb.ShardStateUnsplit](state).Accounts.ShardAccounts.LoadValue(key256(id)))
	if value == nil {
		return nil
	}
	return must(value.PeekRefCell()).WithoutTrace()
}

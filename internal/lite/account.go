package lite

import (
	"context"
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

func parseBlock(root *cell.Cell) (*tlb.Block, error) {
	loader, err := root.BeginParse()
	if err != nil {
		return nil, err
	}
	var block tlb.Block
	return &block, tlb.LoadFromCellAsProof(&block, loader)
}

// Account is the proven state of an account after a block.
type Account struct {
	Utime uint32     // when the shard block was made that the state is of
	State *cell.Cell // Account of block.tlb; nil when there is none
	// LastTransactionHash and LastTransactionLT are those of the newest
	// transaction, zero without a state.
	LastTransactionHash []byte
	LastTransactionLT   uint64
}

// Account reads an account after a masterchain block, or after a block of the
// account's shard. The way from the block to the state is proven, also that
// there is none.
func (p *Pool) Account(ctx context.Context, block *ton.BlockIDExt, account *address.Address) (*Account, error) {
	query := Query{Request: ton.GetAccountState{ID: block, Account: *accountID(account)}, Seqno: masterSeqno(block)}
	return checked(ctx, p, query, func(answer any) (*Account, error) { return readAccount(answer, block, account) })
}

func accountID(account *address.Address) *ton.AccountID {
	return &ton.AccountID{Workchain: account.Workchain(), ID: account.Data()}
}

func readAccount(answer any, block *ton.BlockIDExt, account *address.Address) (*Account, error) {
	got, err := as[ton.AccountState]("getAccountState", answer)
	if err != nil {
		return nil, err
	}
	if !complete(got.ID) || !got.ID.Equals(block) {
		return nil, fmt.Errorf("getAccountState: it is of another block than %s", Format(block))
	}
	utime, leaf, err := proveAccount(got.Shard, got.ShardProof, got.Proof, block, account)
	if err != nil {
		return nil, fmt.Errorf("getAccountState: %w", err)
	}
	result := &Account{Utime: utime}
	if leaf == nil {
		if got.State != nil {
			return nil, errors.New("getAccountState: the account has a state, its proof says none")
		}
		return result, nil
	}
	if got.State == nil || leaf.Account.HashKey(0) != got.State.HashKey() {
		return nil, fmt.Errorf("getAccountState: the state is not the proven one, %X", leaf.Account.Hash(0))
	}
	result.State, result.LastTransactionHash, result.LastTransactionLT = got.State, leaf.LastTransHash, leaf.LastTransLT
	return result, nil
}

// proveAccount follows the proofs from a block to the account's leaf in
// ShardAccounts, nil where there is no account, and the time of the block that the state is
// of. The tree is looked through here
// once more when the account is said to be absent, because a branch that was
// left out of a proof is no proof of absence.
func proveAccount(shard *ton.BlockIDExt, shardProof, proof []*cell.Cell, block *ton.BlockIDExt, account *address.Address) (uint32, *tlb.ShardAccount, error) {
	if account.Workchain() == masterWorkchain || !isMaster(block) {
		shard = block
	} else if err := ton.CheckShardInMasterProofForAccount(block, shardProof, shard, account); err != nil {
		return 0, nil, err
	}
	if shard.Workchain != account.Workchain() || !tlb.ShardID(uint64(shard.Shard)).ContainsAddress(account) {
		return 0, nil, fmt.Errorf("block %s does not hold the account", shortID(shard))
	}
	state, err := ton.CheckBlockShardStateProof(proof, shard.RootHash)
	if err != nil {
		return 0, nil, err
	}
	if state.Accounts.ShardAccounts == nil {
		return 0, nil, errors.New("no accounts in the proof")
	}
	key := cell.BeginCell().MustStoreSlice(account.Data(), 256).EndCell()
	value, _, err := state.Accounts.ShardAccounts.LoadValueExtra(key)
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return state.GenUTime, nil, nil
	}
	if err != nil {
		return 0, nil, fmt.Errorf("the account is not in the proof: %w", err)
	}
	var leaf tlb.ShardAccount
	if err := tlb.LoadFromCell(&leaf, value); err != nil {
		return 0, nil, fmt.Errorf("the account's leaf: %w", err)
	}
	return state.GenUTime, &leaf, nil
}

// Config reads the configuration after a masterchain block: the dictionary of
// all parameters, or of those asked for.
func (p *Pool) Config(ctx context.Context, master *ton.BlockIDExt, params ...int32) (*cell.Cell, error) {
	query := Query{Request: ton.GetConfigAll{BlockID: master}, Seqno: master.SeqNo}
	if len(params) > 0 {
		query.Request = ton.GetConfigParams{BlockID: master, Params: params}
	}
	return checked(ctx, p, query, func(answer any) (*cell.Cell, error) {
		config, err := replay(answer).GetBlockchainConfig(ctx, master, params...)
		if err != nil {
			return nil, err
		}
		if config.Root == nil || config.Root.Level() > 0 {
			return nil, errors.New("getConfig: the proof leaves something out")
		}
		return config.Root, nil
	})
}

// Libraries gives public libraries by their hashes, nil for those that there are
// none of. Only what is there can be checked.
func (p *Pool) Libraries(ctx context.Context, hashes ...[]byte) ([]*cell.Cell, error) {
	return checked(ctx, p, Query{Request: ton.GetLibraries{LibraryList: hashes}}, func(answer any) ([]*cell.Cell, error) {
		return replay(answer).GetLibraries(ctx, hashes...)
	})
}

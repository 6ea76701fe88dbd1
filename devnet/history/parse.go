package history

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
)

// parseBlock makes a block, without its state, from its bytes.
func parseBlock(meta Meta, data []byte) (*chain.Block, error) {
	root, err := cell.FromBOC(data)
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", Name(meta.ID), err)
	}
	if !bytes.Equal(root.Hash(), meta.ID.RootHash) {
		return nil, fmt.Errorf("block %s: %w", Name(meta.ID), errRecord)
	}
	transactions, err := transactionsOf(meta.ID.Workchain, root)
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", Name(meta.ID), err)
	}
	return &chain.Block{
		ID: meta.ID, Data: data, Root: root, GenUtime: meta.GenUtime, StartLT: meta.StartLT, EndLT: meta.EndLT,
		Transactions: transactions,
	}, nil
}

// transactionsOf lists a block's transactions by logical time, then account.
func transactionsOf(workchain int32, root *cell.Cell) ([]chain.Transaction, error) {
	var block tlb.Block
	if err := tlb.Parse(&block, root); err != nil {
		return nil, err
	}
	root = block.Extra.ShardAccountBlocks
	if root.MustBeginParse().MustLoadMaybeRef() == nil {
		return nil, nil
	}
	accounts, err := entries(root.MustPeekRef(0), 256)
	if err != nil {
		return nil, fmt.Errorf("account blocks: %w", err)
	}
	var list []chain.Transaction
	for _, entry := range accounts {
		var account tlb.AccountBlock
		if err := tlb.LoadFromCell(&account, entry.Value); err != nil {
			return nil, fmt.Errorf("account blocks: %w", err)
		}
		transactions, err := entries(account.Transactions.AsCell(), 64)
		if err != nil {
			return nil, fmt.Errorf("account %x: %w", account.Addr, err)
		}
		for _, entry := range transactions {
			tx, err := entry.Value.LoadRefCell()
			if err != nil {
				return nil, fmt.Errorf("account %x: %w", account.Addr, err)
			}
			list = append(list, chain.Transaction{
				Workchain: workchain, Account: [32]byte(account.Addr), LT: entry.Key.MustLoadUInt(64), Hash: tx.HashKey(), Cell: tx,
			})
		}
	}
	slices.SortFunc(list, func(a, b chain.Transaction) int {
		return cmp.Or(cmp.Compare(a.LT, b.LT), bytes.Compare(a.Account[:], b.Account[:]))
	})
	return list, nil
}

// entries are those of a dictionary (HashmapAug with CurrencyCollection as extra,
// which is skipped).
func entries(root *cell.Cell, bits uint) ([]cell.DictKV, error) {
	list, err := root.AsDict(bits).LoadAll()
	for _, e := range list {
		var extra tlb.CurrencyCollection
		err = errors.Join(err, tlb.LoadFromCell(&extra, e.Value))
	}
	return list, err
}

// shardTops are the shard blocks that a masterchain block names, by workchain
// and shard.
func shardTops(master *cell.Cell) ([]*ton.BlockIDExt, error) {
	var block tlb.Block
	if err := tlb.Parse(&block, master); err != nil {
		return nil, err
	}
	if block.Extra == nil || block.Extra.Custom == nil {
		return nil, errors.New("not a masterchain block")
	}
	ids, err := ton.LoadShardsFromHashes(block.Extra.Custom.ShardHashes, false)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(ids, func(a, b *ton.BlockIDExt) int {
		return cmp.Or(cmp.Compare(a.Workchain, b.Workchain), cmp.Compare(uint64(a.Shard), uint64(b.Shard)))
	})
	return ids, nil
}

// parents of a block, one, or two after a merge.
func parents(root *cell.Cell) ([]*ton.BlockIDExt, error) {
	info, err := root.PeekRef(0)
	if err != nil {
		return nil, err
	}
	var header tlb.BlockHeader
	if err := tlb.Parse(&header, info); err != nil {
		return nil, err
	}
	return ton.GetParentBlocks(&header)
}

package node

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
	"tonscribe/ton/address"
)

// Listed is a transaction in a block.
type Listed struct {
	Account [32]byte
	LT      uint64
	Cell    *cell.Cell
}

func (l Listed) compare(account [32]byte, lt uint64) int {
	return cmp.Or(slices.Compare(l.Account[:], account[:]), cmp.Compare(l.LT, lt))
}

// BlockTransactions reads the transactions of a block by account and lt, up to
// count of them behind one, nil for the first. The whole block is read: its hash
// proves that nothing is missing. A page that is full says that there is more, even
// when it ends with the block.
func (n *Node) BlockTransactions(ctx context.Context, id *ton.BlockIDExt, after *Listed, count int) (page []Listed, more bool, err error) {
	all, err := n.transactionsIn(ctx, id)
	if err != nil {
		return nil, false, err
	}
	if after != nil {
		all = slices.DeleteFunc(all, func(l Listed) bool { return l.compare(after.Account, after.LT) <= 0 })
	}
	return all[:min(len(all), count)], len(all) >= count, nil
}

func (n *Node) transactionsIn(ctx context.Context, id *ton.BlockIDExt) ([]Listed, error) {
	_, root, err := n.servers.Block(ctx, id)
	if err != nil {
		return nil, err
	}
	return listTransactions(root)
}

// listTransactions reads the transactions of a block, which need not be one of the chain:
// its dictionaries can share nodes, so that few cells are any number of transactions. Each
// must come behind the one before.
func listTransactions(root *cell.Cell) ([]Listed, error) {
	r := parse(root)
	for range 3 { // info, value_flow, state_update
		r.ref()
	}
	extra := parse(r.ref())
	for range 2 { // in_msg_descr, out_msg_descr
		extra.ref()
	}
	accounts := extra.ref()
	if r.Err() != nil {
		return nil, r.Err()
	}
	if extra.Err() != nil {
		return nil, extra.Err()
	}
	var blocks tlb.ShardAccountBlocks
	if err := tlb.Parse(&blocks, accounts); err != nil {
		return nil, err
	}
	var list []Listed
	err := blocks.Accounts.ForEachValueExtra(func(value, _ *cell.Slice) (bool, error) {
		var block tlb.AccountBlock
		if err := tlb.LoadFromCell(&block, value); err != nil {
			return false, err
		}
		return true, block.Transactions.ForEachValueExtra(func(value, _ *cell.Slice) (bool, error) {
			c, err := value.LoadRefCell()
			if err != nil {
				return false, err
			}
			t := parse(c)
			t.Skip(4)
			l := Listed{t.Hash(), t.Uint(64), c}
			if n := len(list); n > 0 && list[n-1].compare(l.Account, l.LT) >= 0 {
				return false, fmt.Errorf("transaction %d of account %x is not in its place", l.LT, l.Account)
			}
			list = append(list, l)
			return true, t.Err()
		})
	})
	return list, err
}

// ErrNotLocated is the answer where no transaction is found.
var ErrNotLocated = &Error{NotFound, "transaction was not found"}

// laterBlocks is how many blocks of the receiver's shard are looked through:
// messages arrive in the block in which they were sent or in one of the next, unless
// the queue is long.
const laterBlocks = 6

// LocateResult finds the transaction that a message caused.
func (n *Node) LocateResult(ctx context.Context, source, destination address.Address, lt uint64) (*Transaction, error) {
	return n.locate(ctx, destination, lt, laterBlocks, func(t *Transaction) bool {
		return t.In != nil && !t.In.external && t.In.CreatedLT == lt && t.In.Source != nil && *t.In.Source == source
	})
}

// LocateSource finds the transaction that sent a message.
func (n *Node) LocateSource(ctx context.Context, source, destination address.Address, lt uint64) (*Transaction, error) {
	return n.locate(ctx, source, lt, 1, func(t *Transaction) bool {
		return slices.ContainsFunc(t.Out, func(m *Message) bool {
			return m.CreatedLT == lt && m.Destination != nil && *m.Destination == destination
		})
	})
}

// locate looks for an account's transaction in the blocks of its shard from lt
// on.
func (n *Node) locate(ctx context.Context, account address.Address, lt uint64, blocks int, wanted func(*Transaction) bool) (*Transaction, error) {
	l := lite.Lookup{Workchain: account.Workchain(), Shard: shardOf(account), LT: max(lt, 1)}
	for range blocks {
		id, header, err := n.lookup(ctx, l)
		if lite.IsMissing(err) { // the block is not there yet, or not any more
			return nil, ErrNotLocated
		}
		if err != nil {
			return nil, err
		}
		all, err := n.transactionsIn(ctx, id)
		if err != nil {
			return nil, err
		}
		own := slices.DeleteFunc(all, func(l Listed) bool { return l.Account != [32]byte(account.ID()) })
		for i := range own {
			t, err := ParseTransaction(id.Workchain, own[i].Cell)
			if err != nil || wanted(t) {
				return t, err
			}
		}
		l.LT = header.EndLt + 1
	}
	return nil, ErrNotLocated
}

// shardOf is the smallest shard that holds an account: one bit beyond 60 of its
// id, which no network splits down to.
func shardOf(a address.Address) int64 {
	if a.Workchain() == masterWorkchain {
		return masterShard
	}
	const deepest = 60
	prefix := binary.BigEndian.Uint64(a.ID())
	return int64(prefix&^(1<<(64-deepest)-1) | 1<<(63-deepest))
}

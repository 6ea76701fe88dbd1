package chain

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// lane is an account with its transactions of the block being made.
type lane struct {
	id           [32]byte
	account      *tvm.PreparedAccount
	stat         *cell.Cell // storage statistics, handed from transaction to transaction
	existed      bool
	before       []byte                  // hash of the account when the block began
	lent         map[[32]byte]*cell.Cell // public libraries when the block began
	transactions []laneTransaction
}

type laneTransaction struct {
	lt   uint64
	cell *cell.Cell
}

// noAccount is account_none (block.tlb).
var noAccount = cell.BeginCell().MustStoreBoolBit(false).EndCell()

// shardAccount finds an account; one that does not exist is account_none.
func (st *state) shardAccount(id []byte) (account *tlb.ShardAccount, exists bool, err error) {
	value, err := st.accounts.get(id)
	if errors.Is(err, errAbsent) {
		return &tlb.ShardAccount{Account: noAccount, LastTransHash: make([]byte, 32)}, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("account %x: %w", id, err)
	}
	account = &tlb.ShardAccount{}
	if err := tlb.LoadFromCell(account, value); err != nil {
		return nil, false, fmt.Errorf("account %x: %w", id, err)
	}
	return account, true, nil
}

func (c *collation) lane(id [32]byte) (*lane, error) {
	if l := c.lanes[id]; l != nil {
		return l, nil
	}
	account, exists, err := c.state.shardAccount(id[:])
	if err != nil {
		return nil, err
	}
	l := &lane{id: id, existed: exists, before: account.Account.Hash()}
	if l.account, err = tvm.PrepareAccount(account, address.NewAddress(0, byte(c.shard.workchain), id[:])); err != nil {
		return nil, fmt.Errorf("account %x: %w", id, err)
	}
	if c.shard.workchain == masterchain {
		l.lent = publicLibraries(l.account)
	}
	c.lanes[id] = l
	return l, nil
}

// inOrderOfID are the lanes with transactions.
func (c *collation) inOrderOfID() []*lane {
	var list []*lane
	for _, l := range c.lanes {
		if len(l.transactions) > 0 {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b *lane) int { return bytes.Compare(a.id[:], b.id[:]) })
	return list
}

// exists says whether the account is there after its transactions.
func (l *lane) exists() bool { return l.account.State() != nil && l.account.State().IsValid }

// accountBlock is AccountBlock (block.tlb).
func (l *lane) accountBlock() (*cell.Builder, error) {
	changes := make([]change, len(l.transactions))
	for i, t := range l.transactions {
		changes[i] = change{key: bigEndian(t.lt), value: cell.BeginCell().MustStoreRef(t.cell)}
	}
	transactions, err := augmented{bits: 64, aug: tlb.AugAccountTransactions{}}.update(changes)
	if err != nil {
		return nil, fmt.Errorf("transactions of account %x: %w", l.id, err)
	}
	update := cell.BeginCell().MustStoreUInt(0x72, 8).MustStoreSlice(l.before, 256).
		MustStoreSlice(l.account.ShardAccount().Account.Hash(), 256).EndCell()
	return cell.BeginCell().MustStoreUInt(5, 4).MustStoreSlice(l.id[:], 256).
		MustStoreBuilder(transactions.root.ToBuilder()).MustStoreRef(update), nil
}

func bigEndian(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

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

// blockAccount is an account with its transactions of the block being made.
type blockAccount struct {
	id           [32]byte
	account      *tvm.PreparedAccount
	stat         *cell.Cell // storage statistics, handed from transaction to transaction
	existed      bool
	before       []byte                  // hash of the account when the block began
	lent         map[[32]byte]*cell.Cell // public libraries when the block began
	transactions []accountTransaction
	endLT        uint64 // of the last of them, which a deleted account does not keep
}

type accountTransaction struct {
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

func (c *collation) account(id [32]byte) (*blockAccount, error) {
	if a := c.accounts[id]; a != nil {
		return a, nil
	}
	account, exists, err := c.state.shardAccount(id[:])
	if err != nil {
		return nil, err
	}
	a := &blockAccount{id: id, existed: exists, before: account.Account.Hash()}
	if a.account, err = tvm.PrepareAccount(account, address.NewAddress(0, byte(c.shard.workchain), id[:])); err != nil {
		return nil, fmt.Errorf("account %x: %w", id, err)
	}
	if c.shard.workchain == masterchain {
		a.lent = publicLibraries(a.account)
	}
	c.accounts[id] = a
	return a, nil
}

// inOrderOfID are the accounts with transactions.
func (c *collation) inOrderOfID() []*blockAccount {
	var list []*blockAccount
	for _, a := range c.accounts {
		if len(a.transactions) > 0 {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *blockAccount) int { return bytes.Compare(a.id[:], b.id[:]) })
	return list
}

// exists reports whether the account is there after its transactions.
func (a *blockAccount) exists() bool { return a.account.State() != nil && a.account.State().IsValid }

// accountBlock is AccountBlock (block.tlb).
func (a *blockAccount) accountBlock() (*cell.Builder, error) {
	changes := make([]change, len(a.transactions))
	for i, t := range a.transactions {
		changes[i] = change{key: bigEndian(t.lt), value: cell.BeginCell().MustStoreRef(t.cell)}
	}
	transactions, err := augmented{bits: 64, aug: tlb.AugAccountTransactions{}}.update(changes)
	if err != nil {
		return nil, fmt.Errorf("transactions of account %x: %w", a.id, err)
	}
	update := cell.BeginCell().MustStoreUInt(0x72, 8).MustStoreSlice(a.before, 256).
		MustStoreSlice(a.account.ShardAccount().Account.Hash(), 256).EndCell()
	return cell.BeginCell().MustStoreUInt(5, 4).MustStoreSlice(a.id[:], 256).
		MustStoreBuilder(transactions.root.ToBuilder()).MustStoreRef(update), nil
}

func bigEndian(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

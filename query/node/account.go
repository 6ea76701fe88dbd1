package node

import (
	"context"
	"encoding/binary"
	"math/big"
	"slices"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
	"tonscribe/ton/address"
	"tonscribe/ton/code"
)

// Account is an account after a masterchain block.
type Account struct {
	Address    address.Address
	Master     *ton.BlockIDExt
	Last       TransactionID
	Balance    *big.Int
	Currencies []Currency
	// Utime is when the shard block was made that the state is of.
	Utime   uint32
	account *lite.Account
	state   tlb.AccountState // zero when there is no account
}

// TransactionID is where a transaction is: its account's time and its hash.
type TransactionID struct {
	LT   uint64
	Hash [32]byte
}

// Currency is an amount of an extra currency.
type Currency struct {
	ID     int32
	Amount *big.Int
}

// The words for an account's status.
const (
	Active        = "active"
	Uninitialized = "uninitialized"
	Frozen        = "frozen"
)

// Account reads an account after the masterchain block with a seqno, nil for the
// newest one.
func (n *Node) Account(ctx context.Context, a address.Address, seqno *uint32) (*Account, error) {
	master, err := n.MasterOrHead(ctx, seqno)
	if err != nil {
		return nil, err
	}
	return n.accountAt(ctx, master, a)
}

func (n *Node) accountAt(ctx context.Context, master *ton.BlockIDExt, a address.Address) (*Account, error) {
	s := &Account{Address: a, Master: master, Balance: new(big.Int)}
	if there, err := n.hasWorkchain(ctx, master, a.Workchain()); err != nil || !there {
		return s, err
	}
	var err error
	if s.account, err = n.servers.Account(ctx, master, ofTonutils(a)); err != nil {
		return nil, err
	}
	s.Utime = s.account.Utime
	if s.account.State == nil {
		return s, nil
	}
	s.Last.LT = s.account.LastTransactionLT
	copy(s.Last.Hash[:], s.account.LastTransactionHash)
	if err := tlb.Parse(&s.state, s.account.State); err != nil {
		return nil, err
	}
	if !s.state.IsValid {
		return s, nil
	}
	s.Balance = s.state.Balance.Nano()
	if s.state.ExtraCurrencies.IsEmpty() {
		return s, nil
	}
	r := readerOf(cell.BeginCell().ToSlice())
	s.Currencies = r.extra(s.state.ExtraCurrencies.AsCell())
	return s, r.Err()
}

// hasWorkchain reports whether a workchain has shards. Every network has the first
// two.
func (n *Node) hasWorkchain(ctx context.Context, master *ton.BlockIDExt, workchain int32) (bool, error) {
	if workchain == masterWorkchain || workchain == 0 {
		return true, nil
	}
	shards, err := n.servers.AllShards(ctx, master)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(shards, func(shard *ton.BlockIDExt) bool { return shard.Workchain == workchain }), nil
}

// exists is false for an account that was never credited or was deleted.
func (s *Account) exists() bool { return s.account != nil && s.state.IsValid }

// Status returns one of the words for it.
func (s *Account) Status() string {
	switch {
	case s.exists() && s.state.Status == tlb.AccountStatusActive:
		return Active
	case s.exists() && s.state.Status == tlb.AccountStatusFrozen:
		return Frozen
	}
	return Uninitialized
}

// stateInit returns the state, an empty one unless the account is active.
func (s *Account) stateInit() *tlb.StateInit {
	if s.Status() != Active || s.state.StateInit == nil {
		return &tlb.StateInit{}
	}
	return s.state.StateInit
}

// Code returns the code, nil unless the account is active.
func (s *Account) Code() *cell.Cell { return s.stateInit().Code }

// Data returns the data, nil unless the account is active.
func (s *Account) Data() *cell.Cell { return s.stateInit().Data }

// FrozenHash returns the hash of the frozen state, nil unless the account is frozen.
func (s *Account) FrozenHash() []byte {
	if s.Status() != Frozen {
		return nil
	}
	return s.state.StateHash
}

// ShardAccount returns ShardAccount (TL-B) of the account.
func (s *Account) ShardAccount() *cell.Cell {
	account := cell.BeginCell().MustStoreBoolBit(false).EndCell() // account_none
	if s.exists() {
		account = s.account.State
	}
	return cell.BeginCell().MustStoreRef(account).MustStoreSlice(s.Last.Hash[:], 256).MustStoreUInt(s.Last.LT, 64).EndCell()
}

// Wallet returns what the account's data says if its code is that of a wallet, nil
// otherwise.
func (s *Account) Wallet() *code.Wallet {
	if s.Code() == nil || s.Data() == nil {
		return nil
	}
	if w, ok := code.ReadWallet(s.Code().HashKey(), s.Data()); ok {
		return &w
	}
	return nil
}

// Suspended reports whether configuration parameter 44 (SuspendedAddressList) names an
// account, and has not ended.
func (n *Node) Suspended(ctx context.Context, s *Account) (bool, error) {
	config, err := n.configAt(ctx, s.Master)
	if err != nil {
		return false, err
	}
	param, err := paramOf(config.Root(), 44)
	if err != nil || param == nil {
		return false, err
	}
	r := parse(param)
	r.Skip(8) // the tag, #00
	if there := r.Bit(); !there {
		return false, r.Err()
	}
	root := r.ref()
	until := uint32(r.Uint(32))
	if r.Err() != nil || s.Utime >= until {
		return false, r.Err()
	}
	var key [36]byte
	binary.BigEndian.PutUint32(key[:4], uint32(s.Address.Workchain()))
	copy(key[4:], s.Address.ID())
	return has(root.AsDict(288), cell.BeginCell().MustStoreSlice(key[:], 288).EndCell())
}

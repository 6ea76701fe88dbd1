package v2

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
)

// accountState is an account after a masterchain block.
type accountState struct {
	address    Address
	master     *ton.BlockIDExt
	account    *lite.Account
	state      tlb.AccountState // zero when there is no account
	last       transactionID
	balance    *big.Int
	currencies []extraCurrency
	// utime is when the shard block was made that the state is of.
	utime uint32
}

// The words for an account's status.
const (
	statusActive        = "active"
	statusUninitialized = "uninitialized"
	statusFrozen        = "frozen"
)

// accountOf reads the account of a request at the block of the request.
func (c *call) accountOf() (*accountState, error) {
	master, err := c.master()
	if err != nil {
		return nil, err
	}
	return c.accountAt(master, *c.Values.address("address"))
}

func (c *call) accountAt(master *ton.BlockIDExt, address Address) (*accountState, error) {
	s := &accountState{address: address, master: master, balance: new(big.Int)}
	if there, err := c.hasWorkchain(master, address.Workchain); err != nil || !there {
		return s, err
	}
	var err error
	if s.account, err = c.node.Account(c, master, address.tonutils()); err != nil {
		return nil, err
	}
	s.utime = s.account.Utime
	if s.account.State == nil {
		return s, nil
	}
	s.last.LT = s.account.LastTransactionLT
	copy(s.last.Hash[:], s.account.LastTransactionHash)
	if err := tlb.Parse(&s.state, s.account.State); err != nil {
		return nil, err
	}
	if !s.state.IsValid {
		return s, nil
	}
	s.balance = s.state.Balance.Nano()
	return s, s.readCurrencies()
}

// hasWorkchain says whether a workchain has shards. Every network has the first
// two.
func (c *call) hasWorkchain(master *ton.BlockIDExt, workchain int32) (bool, error) {
	if workchain == masterWorkchain || workchain == 0 {
		return true, nil
	}
	shards, err := c.node.AllShards(c, master)
	if err != nil {
		return false, err
	}
	for _, shard := range shards {
		if shard.Workchain == workchain {
			return true, nil
		}
	}
	return false, nil
}

func (s *accountState) readCurrencies() error {
	if s.state.ExtraCurrencies.IsEmpty() {
		return nil
	}
	r := readerOf(cell.BeginCell().ToSlice())
	s.currencies = r.extra(s.state.ExtraCurrencies.AsCell())
	return r.Err()
}

// exists is false for an account that was never credited or was deleted.
func (s *accountState) exists() bool { return s.account != nil && s.state.IsValid }

func (s *accountState) status() string {
	switch {
	case !s.exists():
		return statusUninitialized
	case s.state.Status == tlb.AccountStatusActive:
		return statusActive
	case s.state.Status == tlb.AccountStatusFrozen:
		return statusFrozen
	}
	return statusUninitialized
}

// code and data are nil unless the account is active.
func (s *accountState) code() *cell.Cell {
	if s.status() != statusActive || s.state.StateInit == nil {
		return nil
	}
	return s.state.StateInit.Code
}

func (s *accountState) data() *cell.Cell {
	if s.status() != statusActive || s.state.StateInit == nil {
		return nil
	}
	return s.state.StateInit.Data
}

// frozenHash is nil unless the account is frozen.
func (s *accountState) frozenHash() []byte {
	if s.status() != statusFrozen {
		return nil
	}
	return s.state.StateHash
}

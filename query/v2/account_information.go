package v2

import (
	"encoding/binary"
	"math/big"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/openapi"
)

// fullAccountState is the result of getAddressInformation.
type fullAccountState struct {
	_               typed           `type:"raw.fullAccountState"`
	Balance         *big.Int        `json:"balance"`
	ExtraCurrencies []extraCurrency `json:"extra_currencies"`
	Last            transactionID   `json:"last_transaction_id"`
	Block           blockID         `json:"block_id"`
	Code            *cell.Cell      `json:"code"`
	Data            *cell.Cell      `json:"data"`
	FrozenHash      []byte          `json:"frozen_hash"`
	SyncUtime       uint32          `json:"sync_utime"`
	State           string          `json:"state" enum:"active,uninitialized,frozen"`
	Suspended       bool            `json:"suspended"`
}

var getAddressInformation = &Method{
	Name: "getAddressInformation", Tag: tagAccounts, Summary: "Address information",
	Description: "State of an account: balance, code, data, the last transaction.",
	Params:      accountParams, Cache: time.Second,
	Result: openapi.TypeOf[fullAccountState](),
	serve: func(c *call) (any, error) {
		s, err := c.accountOf()
		if err != nil {
			return nil, err
		}
		suspended, err := c.suspended(s)
		return fullAccountState{
			Balance: s.balance, ExtraCurrencies: s.currencies, Last: s.last, Block: newBlockID(s.master),
			Code: s.code(), Data: s.data(), FrozenHash: s.frozenHash(),
			SyncUtime: s.utime, State: s.status(), Suspended: suspended,
		}, err
	},
}

// suspended says whether configuration parameter 44 (SuspendedAddressList)
// names an account that has no code yet.
func (c *call) suspended(s *accountState) (bool, error) {
	if s.status() == statusActive {
		return false, nil
	}
	config, err := c.config(s.master)
	if err != nil {
		return false, err
	}
	param, err := config.param(44)
	if err != nil || param == nil {
		return false, err
	}
	r := parse(param)
	r.Skip(8) // the tag, #00
	there := r.Bit()
	if !there {
		return false, r.Err()
	}
	root := r.ref()
	until := uint32(r.Uint(32))
	if r.Err() != nil || s.utime >= until {
		return false, r.Err()
	}
	var key [36]byte
	binary.BigEndian.PutUint32(key[:4], uint32(s.address.Workchain))
	copy(key[4:], s.address.ID[:])
	return has(root.AsDict(288), cell.BeginCell().MustStoreSlice(key[:], 288).EndCell())
}

var getAddressBalance = &Method{
	Name: "getAddressBalance", Tag: tagAccounts, Summary: "Address balance",
	Description: "Balance of an account in nanotons.",
	Params:      accountParams, Cache: time.Second,
	Result: openapi.TypeOf[string](),
	serve: func(c *call) (any, error) {
		s, err := c.accountOf()
		if err != nil {
			return nil, err
		}
		return s.balance.String(), nil
	},
}

var getAddressState = &Method{
	Name: "getAddressState", Tag: tagAccounts, Summary: "Address state",
	Description: "active, uninitialized or frozen.",
	Params:      accountParams, Cache: time.Second,
	Result: openapi.TypeOf[string](),
	serve: func(c *call) (any, error) {
		s, err := c.accountOf()
		if err != nil {
			return nil, err
		}
		return s.status(), nil
	},
}

var getShardAccountCell = &Method{
	Name: "getShardAccountCell", Tag: tagAccounts, Summary: "Shard account cell",
	Description: "ShardAccount (TL-B) of an account: the last transaction's hash and lt, and a reference to the account.",
	Params:      accountParams, Cache: time.Second,
	Result: openapi.TypeOf[tvmCell](),
	serve: func(c *call) (any, error) {
		s, err := c.accountOf()
		if err != nil {
			return nil, err
		}
		account := cell.BeginCell().MustStoreBoolBit(false).EndCell() // account_none
		if s.exists() {
			account = s.account.State
		}
		return tvmCell{Bytes: cell.BeginCell().
			MustStoreRef(account).MustStoreSlice(s.last.Hash[:], 256).MustStoreUInt(s.last.LT, 64).EndCell()}, nil
	},
}

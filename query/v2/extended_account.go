package v2

import (
	"math/big"
	"time"

	"tonscribe/query/openapi"
	"tonscribe/ton/code"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// extendedState is the result of getExtendedAddressInformation.
type extendedState struct {
	_               typed           `type:"fullAccountState"`
	Address         accountAddress  `json:"address"`
	Balance         *big.Int        `json:"balance"`
	ExtraCurrencies []extraCurrency `json:"extra_currencies"`
	Last            transactionID   `json:"last_transaction_id"`
	Block           blockID         `json:"block_id"`
	SyncUtime       uint32          `json:"sync_utime"`
	State           contractState   `json:"account_state"`
	Revision        int32           `json:"revision"`
}

// contractState is what is known of a contract.
type contractState interface{ isContractState() }

type (
	rawState struct {
		_          typed      `type:"raw.accountState"`
		Code       *cell.Cell `json:"code"`
		Data       *cell.Cell `json:"data"`
		FrozenHash []byte     `json:"frozen_hash"`
	}
	uninitedState struct {
		_          typed  `type:"uninited.accountState"`
		FrozenHash []byte `json:"frozen_hash"`
	}
	walletV3State struct {
		_        typed `type:"wallet.v3.accountState"`
		WalletID int64 `json:"wallet_id"`
		Seqno    int32 `json:"seqno"`
	}
	walletV4State struct {
		_        typed `type:"wallet.v4.accountState"`
		WalletID int64 `json:"wallet_id"`
		Seqno    int32 `json:"seqno"`
	}
	highloadV1State struct {
		_        typed `type:"wallet.highload.v1.accountState"`
		WalletID int64 `json:"wallet_id"`
		Seqno    int32 `json:"seqno"`
	}
	highloadV2State struct {
		_        typed `type:"wallet.highload.v2.accountState"`
		WalletID int64 `json:"wallet_id"`
	}
	dnsState struct {
		_        typed `type:"dns.accountState"`
		WalletID int64 `json:"wallet_id"`
	}
)

func (rawState) isContractState()        {}
func (uninitedState) isContractState()   {}
func (walletV3State) isContractState()   {}
func (walletV4State) isContractState()   {}
func (highloadV1State) isContractState() {}
func (highloadV2State) isContractState() {}
func (dnsState) isContractState()        {}
func (restrictedState) isContractState() {}
func (channelState) isContractState()    {}

// contractKind is a contract that is known by the hash of its code: a revision,
// and how its data is read.
type contractKind struct {
	revision int32
	read     func(r *reader) contractState
}

// seqnoAndID reads seqno 32, wallet_id 32.
func seqnoAndID(r *reader) (int32, int64) {
	seqno := int32(r.Uint(32))
	return seqno, int64(r.Uint(32))
}

func readV3(r *reader) contractState {
	seqno, id := seqnoAndID(r)
	return walletV3State{Seqno: seqno, WalletID: id}
}

func readV4(r *reader) contractState {
	seqno, id := seqnoAndID(r)
	return walletV4State{Seqno: seqno, WalletID: id}
}

func readHighloadV1(r *reader) contractState {
	seqno, id := seqnoAndID(r)
	return highloadV1State{Seqno: seqno, WalletID: id}
}

func readHighloadV2(r *reader) contractState { return highloadV2State{WalletID: int64(r.Uint(32))} }

func readDNS(r *reader) contractState { return dnsState{WalletID: int64(r.Uint(32))} }

// contractKinds are the contracts by the hash of their code.
var contractKinds = map[code.Hash]contractKind{
	code.Build("wallet_v3r1"):                                     {1, readV3},
	code.Build("wallet_v3r2"):                                     {2, readV3},
	code.Build("wallet_v4r2"):                                     {2, readV4},
	code.Build("wallet_highload_v1r1"):                            {1, readHighloadV1},
	code.MustHash("NowDly5fTCRBK4GGUt4d4qJjDRwBFgmZnf90X7NoSa0="): {2, readHighloadV1},
	code.Build("wallet_highload_v2r1"):                            {1, readHighloadV2},
	code.MustHash("CzqIeurNKn1Au1VQvJJTFWoCkGWu+21rWDc11Y2p1b4="): {2, readHighloadV2},
	code.MustHash("oNZ9LeiRn+e3yndlLM1P3FbGid56aRYeRfsNzF5HwVU="): {1, readDNS},
	code.MustHash("jTUEm5Rs8ztYUQu0VgyEGpRfd4HW3p/GnKP0MPbjInM="): {1, readRestricted},
}

var getExtendedAddressInformation = &Method{
	Name: "getExtendedAddressInformation", Tag: tagAccounts, Summary: "Extended address information",
	Description: "Like getAddressInformation, with what is known of the contract by its code.",
	Params:      []Param{addressParam("account, in any form"), anySeqno}, Cache: time.Second,
	Result: openapi.TypeOf[extendedState](),
	serve: func(c *call) (any, error) {
		s, err := c.accountOf()
		if err != nil {
			return nil, err
		}
		result := extendedState{
			Address: accountAddress{Address: s.address.bounceable()}, Balance: s.balance, ExtraCurrencies: s.currencies,
			Last: s.last, Block: newBlockID(s.master), SyncUtime: s.utime,
		}
		result.State, result.Revision, err = c.contractOf(s)
		return result, err
	},
}

func (c *call) contractOf(s *accountState) (contractState, int32, error) {
	if s.code() == nil {
		return uninitedState{FrozenHash: s.frozenHash()}, 0, nil
	}
	raw := rawState{Code: s.code(), Data: s.data()}
	if s.data() == nil {
		return raw, 0, nil
	}
	kind, ok := contractKinds[s.code().HashKey()]
	if !ok {
		kind = contractKind{revisionOfBuild, readChannel}
	}
	r := parse(s.data())
	state := kind.read(r)
	if r.Err() != nil {
		return raw, 0, nil
	}
	if wallet, ok := state.(restrictedState); ok {
		there, err := c.unlocked(s, &wallet)
		if err != nil || !there {
			return raw, 0, err
		}
		state = wallet
	}
	return state, kind.revision, nil
}

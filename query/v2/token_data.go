package v2

import (
	"math/big"
	"net/http"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/openapi"
	"tonscribe/ton/code"
	"tonscribe/ton/tvm"
)

// tokenData is what getTokenData finds.
type tokenData interface{ isTokenData() }

type (
	jettonMaster struct {
		_            typed      `type:"ext.tokens.jettonMasterData"`
		Address      string     `json:"address"`
		ContractType string     `json:"contract_type" enum:"jetton_master"`
		TotalSupply  *big.Int   `json:"total_supply"`
		Mintable     bool       `json:"mintable"`
		Admin        string     `json:"admin_address,omitempty"`
		Content      content    `json:"jetton_content"`
		WalletCode   *cell.Cell `json:"jetton_wallet_code"`
	}
	jettonWallet struct {
		_            typed      `type:"ext.tokens.jettonWalletData"`
		Address      string     `json:"address"`
		ContractType string     `json:"contract_type" enum:"jetton_wallet"`
		Balance      *big.Int   `json:"balance"`
		Owner        string     `json:"owner"`
		Jetton       string     `json:"jetton"`
		Claimed      *bool      `json:"mintless_is_claimed,omitempty"`
		WalletCode   *cell.Cell `json:"jetton_wallet_code"`
	}
	nftCollection struct {
		_            typed    `type:"ext.tokens.nftCollectionData"`
		Address      string   `json:"address"`
		ContractType string   `json:"contract_type" enum:"nft_collection"`
		NextIndex    *big.Int `json:"next_item_index"`
		Owner        string   `json:"owner_address,omitempty"`
		Content      content  `json:"collection_content"`
	}
	nftItem struct {
		_            typed    `type:"ext.tokens.nftItemData"`
		Address      string   `json:"address"`
		ContractType string   `json:"contract_type" enum:"nft_item"`
		Init         bool     `json:"init"`
		Index        *big.Int `json:"index"`
		Collection   string   `json:"collection_address,omitempty"`
		Owner        string   `json:"owner_address,omitempty"`
		Content      content  `json:"content"`
	}
)

func (jettonMaster) isTokenData()  {}
func (jettonWallet) isTokenData()  {}
func (nftCollection) isTokenData() {}
func (nftItem) isTokenData()       {}

var errNoToken = &Error{Status: http.StatusConflict, Text: "Smart contract is not Jetton or NFT"}

// errTokenData answers content that has more than is read of any.
var errTokenData = failed("Failed to unpack token data")

var getTokenData = &Method{
	Name: "getTokenData", Tag: tagAccounts, Summary: "Token data",
	Description: "What a jetton master, a jetton wallet (TEP-74), an NFT collection or an NFT item (TEP-62) says of itself; wallets and items are asked for at their parents too.",
	Params:      accountParams, Cache: time.Second, Parallel: 16, MostBytes: mostContractBytes,
	Errors: []Error{*errNoToken, *errNoURI, *errTokenData, *tooLarge(mostContractBytes)},
	Result: openapi.TypeOf[tokenData](),
	serve: func(c *call) (any, error) {
		s, err := c.accountOf()
		if err != nil {
			return nil, err
		}
		if s.code() == nil {
			return nil, errNoToken
		}
		t := &token{call: c, state: s}
		for _, probe := range []func() (tokenData, error){t.master, t.wallet, t.collection, t.item} {
			if found, err := probe(); found != nil || err != nil {
				return found, err
			}
		}
		return nil, errNoToken
	},
}

// token looks at a contract. A probe gives nil for a contract of another kind.
type token struct {
	call  *call
	state *accountState
}

// ask runs a get-method; nil when it fails or leaves less than wanted.
func (t *token) ask(s *accountState, method string, wanted int, arguments ...any) (*values, error) {
	result, err := t.call.run(s, int64(code.MethodID(method)), arguments)
	if err != nil {
		return nil, err
	}
	if result.ExitCode != 0 || len(result.Stack) < wanted {
		return nil, nil
	}
	return &values{stack: result.Stack}, nil
}

// parent is the state of the contract that a wallet or an item names; nil when
// it has no code.
func (t *token) parent(address Address) (*accountState, error) {
	s, err := t.call.accountAt(t.state.master, address)
	if err != nil || s.code() == nil {
		return nil, err
	}
	return s, nil
}

func (t *token) master() (tokenData, error) {
	v, err := t.ask(t.state, "get_jetton_data", 5)
	if v == nil {
		return nil, err
	}
	m := jettonMaster{
		Address: t.state.address.normal(), ContractType: "jetton_master",
		TotalSupply: v.number(0), Mintable: v.number(1).Sign() != 0, Admin: v.optionalAddress(2),
		WalletCode: v.cell(4),
	}
	content := v.cell(3)
	if v.bad {
		return nil, nil
	}
	m.Content, err = tokenContent(content)
	if m.Content == nil {
		return nil, err
	}
	return m, nil
}

func (t *token) wallet() (tokenData, error) {
	v, err := t.ask(t.state, "get_wallet_data", 4)
	if v == nil {
		return nil, err
	}
	w := jettonWallet{Address: t.state.address.normal(), ContractType: "jetton_wallet", Balance: v.number(0), WalletCode: v.cell(3)}
	owner, master := v.address(1), v.address(2)
	if v.bad {
		return nil, nil
	}
	w.Owner, w.Jetton = owner.bounceable(), master.bounceable()
	if same, err := t.childOf(master, "get_wallet_address", v.slice(1)); !same {
		return nil, err
	}
	claimed, err := t.ask(t.state, "is_claimed", 1)
	if err != nil {
		return nil, err
	}
	if claimed != nil && len(claimed.stack) == 1 {
		if n := claimed.number(0); !claimed.bad {
			is := n.Sign() != 0
			w.Claimed = &is
		}
	}
	return w, nil
}

// childOf says whether a parent gives this contract's address.
func (t *token) childOf(parent Address, method string, argument any) (bool, error) {
	s, err := t.parent(parent)
	if s == nil {
		return false, err
	}
	v, err := t.ask(s, method, 1, argument)
	if v == nil {
		return false, err
	}
	child := v.address(0)
	return !v.bad && child.same(&t.state.address), nil
}

func (t *token) collection() (tokenData, error) {
	v, err := t.ask(t.state, "get_collection_data", 3)
	if v == nil {
		return nil, err
	}
	n := nftCollection{
		Address: t.state.address.normal(), ContractType: "nft_collection", NextIndex: v.number(0), Owner: v.optionalAddress(2),
	}
	content := v.cell(1)
	if v.bad {
		return nil, nil
	}
	n.Content, err = tokenContent(content)
	if n.Content == nil {
		return nil, err
	}
	return n, nil
}

func (t *token) item() (tokenData, error) {
	v, err := t.ask(t.state, "get_nft_data", 5)
	if v == nil {
		return nil, err
	}
	n := nftItem{
		Address: t.state.address.normal(), ContractType: "nft_item", Init: v.number(0).Sign() != 0, Index: v.number(1),
		Collection: v.optionalAddress(2), Owner: v.optionalAddress(3),
	}
	content := v.cell(4)
	if v.bad {
		return nil, nil
	}
	if n.Collection != "" {
		if content, err = t.itemContent(v.address(2), n.Index, content); content == nil {
			return nil, err
		}
	}
	if name, err := t.name(); name != nil || err != nil {
		n.Content = name
		return n, err
	}
	n.Content, err = tokenContent(content)
	if n.Content == nil {
		return nil, err
	}
	return n, nil
}

// itemContent asks the collection whether the item is its own, and for its
// content; nil when it is not.
func (t *token) itemContent(collection Address, index *big.Int, own *cell.Cell) (*cell.Cell, error) {
	if same, err := t.childOf(collection, "get_nft_address_by_index", index); !same {
		return nil, err
	}
	s, err := t.parent(collection)
	if s == nil {
		return nil, err
	}
	v, err := t.ask(s, "get_nft_content", 1, index, own)
	if v == nil {
		return nil, err
	}
	content := v.cell(0)
	if v.bad {
		return nil, nil
	}
	return content, nil
}

// values reads a result; bad says that some value was of another kind.
type values struct {
	stack tvm.Tuple
	bad   bool
}

func (v *values) number(i int) *big.Int {
	n, ok := v.stack[i].(*big.Int)
	if !ok {
		v.bad = true
		return new(big.Int)
	}
	return n
}

func (v *values) cell(i int) *cell.Cell {
	c, ok := v.stack[i].(*cell.Cell)
	v.bad = v.bad || !ok
	return c
}

// slice is an address as an argument for another get-method.
func (v *values) slice(i int) any {
	if c, ok := v.stack[i].(*cell.Cell); ok {
		if s, err := c.BeginParse(); err == nil {
			return s
		}
	}
	return v.stack[i]
}

func (v *values) address(i int) Address {
	a, ok := v.maybeAddress(i)
	v.bad = v.bad || !ok
	return a
}

// optionalAddress is empty for addr_none.
func (v *values) optionalAddress(i int) string {
	a, ok := v.maybeAddress(i)
	if !ok {
		return ""
	}
	return a.bounceable()
}

// maybeAddress reads addr_std without anycast. ok is false for addr_none; all
// others are bad.
func (v *values) maybeAddress(i int) (a Address, ok bool) {
	var s *cell.Slice
	switch x := v.stack[i].(type) {
	case *cell.Slice:
		s = x.Copy()
	case *cell.Cell:
		s, _ = x.BeginParse() // nil is bad
	}
	if s == nil {
		v.bad = true
		return a, false
	}
	r := readerOf(s)
	switch r.Uint(2) {
	case 0b00:
		return a, false
	case 0b10:
		if anycast := r.Bit(); !anycast {
			a.Workchain = int32(int8(r.Uint(8)))
			a.ID = r.Hash()
			ok = r.Err() == nil
		}
	}
	v.bad = v.bad || !ok
	return a, ok
}

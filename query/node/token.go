package node

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
	toncell "tonscribe/ton/cell"
	tondns "tonscribe/ton/dns"
	tontoken "tonscribe/ton/token"
)

// Token is what a token contract says of itself: one of the types below.
type Token any

// What token contracts say of themselves. Addresses are nil for addr_none.
type (
	JettonMaster struct {
		TotalSupply *big.Int
		Mintable    bool
		Admin       *address.Address
		Content     Content
		WalletCode  *cell.Cell
	}
	JettonWallet struct {
		Balance       *big.Int
		Owner, Jetton address.Address
		Claimed       *bool // of mintless jettons
		WalletCode    *cell.Cell
	}
	NFTCollection struct {
		NextIndex *big.Int
		Owner     *address.Address
		Content   Content
	}
	NFTItem struct {
		Init              bool
		Index             *big.Int
		Collection, Owner *address.Address
		Content           Content
	}
)

// Content is the content of a token: OnchainContent, OffchainContent (TEP-64), or
// *Domain of an item that is a name (TEP-81).
type Content any

type (
	// OnchainContent are attributes by their names.
	OnchainContent map[string]string
	// OffchainContent is a link.
	OffchainContent string
	// Domain is a name and its records by the names of their categories, or by
	// their categories in hex.
	Domain struct {
		Name    string
		Records map[string]*Record
	}
)

// The answers to contracts that are no tokens, or say too much or too little.
var (
	ErrNoToken   = &Error{Unfitting, "Smart contract is not Jetton or NFT"}
	ErrTokenData = failed("Failed to unpack token data")
	ErrNoURI     = failed("missing uri field in offchain data")
)

// Token asks an account's contract what token it is; wallets and items are asked for
// at their parents too.
func (n *Node) Token(ctx context.Context, s *Account) (Token, error) {
	if s.Code() == nil {
		return nil, ErrNoToken
	}
	t := &tokenProbe{n, s}
	for _, probe := range []func(context.Context) (Token, error){t.master, t.wallet, t.collection, t.item} {
		if found, err := probe(ctx); found != nil || err != nil {
			return found, err
		}
	}
	return nil, ErrNoToken
}

// tokenProbe looks at a contract. A probe gives nil for a contract of another kind.
type tokenProbe struct {
	node  *Node
	state *Account
}

func (t *tokenProbe) ask(ctx context.Context, method string, wanted int, arguments ...any) (*values, error) {
	return t.node.ask(ctx, t.state, method, wanted, arguments...)
}

// parent is the state of the contract that a wallet or an item names; nil when
// it has no code.
func (t *tokenProbe) parent(ctx context.Context, a address.Address) (*Account, error) {
	s, err := t.node.accountAt(ctx, t.state.Master, a)
	if err != nil || s.Code() == nil {
		return nil, err
	}
	return s, nil
}

func (t *tokenProbe) master(ctx context.Context) (Token, error) {
	v, err := t.ask(ctx, "get_jetton_data", 5)
	if v == nil {
		return nil, err
	}
	m := &JettonMaster{TotalSupply: v.number(0), Mintable: v.number(1).Sign() != 0, Admin: v.party(2), WalletCode: v.cell(4)}
	content := v.cell(3)
	if v.bad {
		return nil, nil
	}
	if m.Content, err = contentOf(content); m.Content == nil {
		return nil, err
	}
	return m, nil
}

func (t *tokenProbe) wallet(ctx context.Context) (Token, error) {
	v, err := t.ask(ctx, "get_wallet_data", 4)
	if v == nil {
		return nil, err
	}
	w := &JettonWallet{Balance: v.number(0), Owner: v.address(1), Jetton: v.address(2), WalletCode: v.cell(3)}
	if v.bad {
		return nil, nil
	}
	if same, err := t.childOf(ctx, w.Jetton, "get_wallet_address", sliceOf(v.stack[1])); !same {
		return nil, err
	}
	claimed, err := t.ask(ctx, "is_claimed", 1)
	if err != nil {
		return nil, err
	}
	if claimed != nil && len(claimed.stack) == 1 {
		if n := claimed.number(0); !claimed.bad {
			w.Claimed = new(n.Sign() != 0)
		}
	}
	return w, nil
}

// childOf reports whether a parent gives this contract's address.
func (t *tokenProbe) childOf(ctx context.Context, parent address.Address, method string, argument any) (bool, error) {
	s, err := t.parent(ctx, parent)
	if s == nil {
		return false, err
	}
	v, err := t.node.ask(ctx, s, method, 1, argument)
	if v == nil {
		return false, err
	}
	child := v.address(0)
	return !v.bad && child == t.state.Address, nil
}

func (t *tokenProbe) collection(ctx context.Context) (Token, error) {
	v, err := t.ask(ctx, "get_collection_data", 3)
	if v == nil {
		return nil, err
	}
	c := &NFTCollection{NextIndex: v.number(0), Owner: v.party(2)}
	content := v.cell(1)
	if v.bad {
		return nil, nil
	}
	if c.Content, err = contentOf(content); c.Content == nil {
		return nil, err
	}
	return c, nil
}

func (t *tokenProbe) item(ctx context.Context) (Token, error) {
	v, err := t.ask(ctx, "get_nft_data", 5)
	if v == nil {
		return nil, err
	}
	i := &NFTItem{Init: v.number(0).Sign() != 0, Index: v.number(1), Collection: v.party(2), Owner: v.party(3)}
	content := v.cell(4)
	if v.bad {
		return nil, nil
	}
	if i.Collection != nil {
		if content, err = t.itemContent(ctx, *i.Collection, i.Index, content); content == nil {
			return nil, err
		}
	}
	if i.Content, err = t.domain(ctx); i.Content != nil || err != nil {
		return i, err
	}
	if i.Content, err = contentOf(content); i.Content == nil {
		return nil, err
	}
	return i, nil
}

// itemContent asks the collection whether the item is its own, and for its
// content; nil when it is not.
func (t *tokenProbe) itemContent(ctx context.Context, collection address.Address, index *big.Int, own *cell.Cell) (*cell.Cell, error) {
	if same, err := t.childOf(ctx, collection, "get_nft_address_by_index", index); !same {
		return nil, err
	}
	s, err := t.parent(ctx, collection)
	if s == nil {
		return nil, err
	}
	v, err := t.node.ask(ctx, s, "get_nft_content", 1, index, own)
	if v == nil {
		return nil, err
	}
	content := v.cell(0)
	if v.bad {
		return nil, nil
	}
	return content, nil
}

// contentOf reads content (TEP-64); nil when it has neither form. Attributes
// are shown whole or not at all.
func contentOf(c *cell.Cell) (Content, error) {
	read, ok := tontoken.Read(c)
	if !ok {
		return nil, nil
	}
	if read.Layout == tontoken.OffChain {
		switch uri := read.Attributes[0]; {
		case uri.Cut:
			return nil, nil
		case uri.Text == "":
			return nil, ErrNoURI
		default:
			return OffchainContent(uri.Text), nil
		}
	}
	content := OnchainContent{}
	for _, a := range read.Attributes {
		if slices.Contains(tontoken.Names, a.Name) && !a.Cut && !a.Bare {
			content[a.Name] = a.Text
		}
	}
	return content, nil
}

// topLevel follows the names of items.
const topLevel = ".ton"

// domain is the content of an item that resolves itself; nil of others.
func (t *tokenProbe) domain(ctx context.Context) (Content, error) {
	itself := cell.BeginCell().MustStoreUInt(0, 8).ToSlice()
	v, err := t.ask(ctx, "dnsresolve", 2, itself, new(big.Int))
	if v == nil || len(v.stack) != 2 {
		return nil, err
	}
	root, ok := v.stack[1].(*cell.Cell)
	if !ok {
		return nil, nil
	}
	records, err := tondns.Records(root)
	switch {
	case errors.Is(err, toncell.ErrTooManyEntries):
		return nil, ErrTokenData
	case err != nil || slices.ContainsFunc(records, func(e tondns.Entry) bool { return e.Record == nil }):
		return nil, nil //nolint:nilerr // such an item is no name
	}
	domain, err := t.ask(ctx, "get_domain", 1)
	if domain == nil {
		return nil, err
	}
	text, ok := domainText(domain.stack[0])
	if !ok {
		return nil, nil
	}
	content := &Domain{Name: text + topLevel, Records: map[string]*Record{}}
	for _, e := range records {
		if r := recordOf(e.Record); r.Kind != 0 && r.Kind != tondns.Text {
			content.Records[categoryName(e.Category)] = &r
		}
	}
	return content, nil
}

func domainText(value any) (string, bool) {
	s := sliceOf(value)
	if s == nil {
		return "", false
	}
	bits, data, err := s.RestBits()
	return string(data), err == nil && bits%8 == 0
}

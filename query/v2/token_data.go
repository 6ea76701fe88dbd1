package v2

import (
	"math/big"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
)

// content is what a token says of itself besides numbers and addresses.
var content = api.OneOf("Content",
	api.Is[node.Content](api.New("OnchainContent",
		api.Word("type", api.Words{"onchain"}, func(node.OnchainContent) string { return "onchain" }),
		dictionary("data", plainText{api.String}, func(c node.OnchainContent) map[string]string { return c }),
	)),
	api.Is[node.Content](api.New("OffchainContent",
		api.Word("type", api.Words{"offchain"}, func(node.OffchainContent) string { return "offchain" }),
		text("data", func(c node.OffchainContent) string { return string(c) }),
	)),
	api.Is[node.Content](api.New("DomainContent",
		text("domain", func(d *node.Domain) string { return d.Name }),
		dictionary("data", nameRecord, func(d *node.Domain) map[string]*node.Record { return d.Records }),
	)),
)

// tokenRow is a token and its address in the form in which it was asked for.
type tokenRow[T any] struct {
	address string
	token   T
}

// tokenCase is the case of tokens of a Go type.
func tokenCase[T any](name, typeName, kind string, members ...api.Member[tokenRow[T]]) api.Case[tokenRow[node.Token]] {
	return api.When(api.Typed(name, typeName, append([]api.Member[tokenRow[T]]{
		api.Text("address", func(r tokenRow[T]) string { return r.address }),
		api.Word("contract_type", api.Words{kind}, func(tokenRow[T]) string { return kind }),
	}, members...)...), func(r tokenRow[node.Token]) (tokenRow[T], bool) {
		t, ok := r.token.(T)
		return tokenRow[T]{r.address, t}, ok
	})
}

type (
	masterRow     = tokenRow[*node.JettonMaster]
	walletDataRow = tokenRow[*node.JettonWallet]
	collectionRow = tokenRow[*node.NFTCollection]
	itemRow       = tokenRow[*node.NFTItem]
)

var tokenData = api.OneOf("TokenData",
	tokenCase("JettonMaster", "ext.tokens.jettonMasterData", "jetton_master",
		api.BigDecimal("total_supply", func(m masterRow) *big.Int { return m.token.TotalSupply }),
		api.Bool("mintable", func(m masterRow) bool { return m.token.Mintable }),
		api.Text("admin_address", func(m masterRow) string { return bounceable(m.token.Admin) }).Optional(),
		api.Object("jetton_content", content, func(m masterRow) node.Content { return m.token.Content }, nil),
		api.Cell("jetton_wallet_code", func(m masterRow) *cell.Cell { return m.token.WalletCode }),
	),
	tokenCase("JettonWallet", "ext.tokens.jettonWalletData", "jetton_wallet",
		api.BigDecimal("balance", func(w walletDataRow) *big.Int { return w.token.Balance }),
		api.Text("owner", func(w walletDataRow) string { return bounceable(&w.token.Owner) }),
		api.Text("jetton", func(w walletDataRow) string { return bounceable(&w.token.Jetton) }),
		api.BoolIf("mintless_is_claimed", func(w walletDataRow) *bool { return w.token.Claimed }).Optional(),
		api.Cell("jetton_wallet_code", func(w walletDataRow) *cell.Cell { return w.token.WalletCode }),
	),
	tokenCase("NftCollection", "ext.tokens.nftCollectionData", "nft_collection",
		api.BigDecimal("next_item_index", func(n collectionRow) *big.Int { return n.token.NextIndex }),
		api.Text("owner_address", func(n collectionRow) string { return bounceable(n.token.Owner) }).Optional(),
		api.Object("collection_content", content, func(n collectionRow) node.Content { return n.token.Content }, nil),
	),
	tokenCase("NftItem", "ext.tokens.nftItemData", "nft_item",
		api.Bool("init", func(n itemRow) bool { return n.token.Init }),
		api.BigDecimal("index", func(n itemRow) *big.Int { return n.token.Index }),
		api.Text("collection_address", func(n itemRow) string { return bounceable(n.token.Collection) }).Optional(),
		api.Text("owner_address", func(n itemRow) string { return bounceable(n.token.Owner) }).Optional(),
		api.Object("content", content, func(n itemRow) node.Content { return n.token.Content }, nil),
	),
)

var getTokenData = &Method{
	Name: "getTokenData", Tag: tagAccounts, Summary: "Token data",
	Description: "What a jetton master, a jetton wallet (TEP-74), an NFT collection or an NFT item (TEP-62) says of itself; wallets and items are asked for at their parents too.",
	Params:      accountParams, Cache: time.Second, Parallel: 16, MaxBytes: maxContractBytes,
	Errors: ofNode(node.ErrNoToken, node.ErrNoURI, node.ErrTokenData, node.TooLarge(maxContractBytes)),
	Result: of(tokenData, func(c *call) (r tokenRow[node.Token], err error) {
		s, err := c.account()
		if err != nil {
			return r, err
		}
		r.address = c.address("address").normal()
		r.token, err = c.Token(c, s)
		return r, err
	}),
}

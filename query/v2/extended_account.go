package v2

import (
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/ton/address"
)

// extended is an account and what is known of its contract.
type extended struct {
	*node.Account
	contract node.Contract
	revision int32
}

var extendedState = api.Typed("ExtendedState", "fullAccountState", append(append([]api.Member[extended]{
	api.PartOf("address", accountAddress, func(e extended) *address.Address { return &e.Address }),
}, accountMembers(func(e extended) *node.Account { return e.Account })...),
	api.Uint32("sync_utime", func(e extended) uint32 { return e.Utime }),
	api.Object("account_state", contractState, api.Same[extended], nil),
	api.Int32("revision", func(e extended) int32 { return e.revision }),
)...)

// contractState is what is known of a contract.
var contractState = api.OneOf("ContractState",
	api.When(api.Typed("RawState", "raw.accountState",
		api.Cell("code", func(a *node.Account) *cell.Cell { return a.Code() }),
		api.Cell("data", func(a *node.Account) *cell.Cell { return a.Data() }),
		frozenHash,
	), func(e extended) (*node.Account, bool) { return e.Account, e.contract == nil && e.Code() != nil }),
	api.When(api.Typed("UninitedState", "uninited.accountState", frozenHash),
		func(e extended) (*node.Account, bool) { return e.Account, e.contract == nil }),
	contractWallet("WalletV3State", "wallet.v3", walletID, walletSeqno),
	contractWallet("WalletV4State", "wallet.v4", walletID, walletSeqno),
	contractWallet("HighloadV1State", "wallet.highload.v1", walletID, walletSeqno),
	contractWallet("HighloadV2State", "wallet.highload.v2", walletID),
	contractWallet("DnsState", "dns", walletID),
	contractCase(restrictedState),
	contractCase(channelState),
)

var (
	frozenHash  = api.Bytes("frozen_hash", func(a *node.Account) []byte { return a.FrozenHash() })
	walletID    = api.Int64("wallet_id", func(w *node.ContractWallet) int64 { return w.ID })
	walletSeqno = api.Int32("seqno", func(w *node.ContractWallet) int32 { return w.Seqno })
)

func contractWallet(name, kind string, members ...api.Member[*node.ContractWallet]) api.Case[extended] {
	return api.When(api.Typed(name, kind+".accountState", members...), func(e extended) (*node.ContractWallet, bool) {
		w, ok := e.contract.(*node.ContractWallet)
		return w, ok && w.Kind == kind
	})
}

// contractCase is the case of contracts of a Go type.
func contractCase[C any](shape *api.Shape[C]) api.Case[extended] {
	return api.When(shape, func(e extended) (C, bool) {
		c, ok := e.contract.(C)
		return c, ok
	})
}

var restrictedState = api.Typed("RestrictedState", "rwallet.accountState",
	api.Int64("wallet_id", func(w *node.RestrictedWallet) int64 { return w.ID }),
	api.Int32("seqno", func(w *node.RestrictedWallet) int32 { return w.Seqno }),
	api.Int64("unlocked_balance", func(w *node.RestrictedWallet) int64 { return w.Unlocked }),
	api.Object("config", api.Typed("RestrictedConfig", "rwallet.config",
		api.Int64("start_at", func(w *node.RestrictedWallet) int64 { return w.StartAt }),
		api.List("limits", api.Typed("RestrictedLimit", "rwallet.limit",
			api.Int32("seconds", func(l node.RestrictedLimit) int32 { return l.Seconds }),
			api.Int64("value", func(l node.RestrictedLimit) int64 { return l.Value }),
		), func(w *node.RestrictedWallet) []node.RestrictedLimit { return w.Limits }, api.Same[node.RestrictedLimit]),
	), api.Same[*node.RestrictedWallet], nil),
)

var channelState = api.Typed("ChannelState", "pchan.accountState",
	api.Object("config", channelConfig, api.Same[*node.PaymentChannel], nil),
	api.Object("state", api.OneOf("ChannelPhase",
		api.Is[any](api.Typed("ChannelInit", "pchan.stateInit", channelTerms(func(p node.ChannelInit) node.ChannelTerms { return p.ChannelTerms })...)),
		api.Is[any](api.Typed("ChannelClose", "pchan.stateClose", channelTerms(func(p node.ChannelClose) node.ChannelTerms { return p.ChannelTerms })...)),
		api.Is[any](api.Typed("ChannelPayout", "pchan.statePayout",
			api.Int64("A", func(p node.ChannelPayout) int64 { return p.A }),
			api.Int64("B", func(p node.ChannelPayout) int64 { return p.B }),
		)),
	), func(c *node.PaymentChannel) any { return c.Phase }, nil),
	api.Text("description", func(c *node.PaymentChannel) string { return c.Description }),
)

var channelConfig = api.Typed("ChannelConfig", "pchan.config",
	api.Text("alice_public_key", func(c *node.PaymentChannel) string { return c.Alice.Key }),
	api.PartOf("alice_address", accountAddress, func(c *node.PaymentChannel) *address.Address { return &c.Alice.Address }),
	api.Text("bob_public_key", func(c *node.PaymentChannel) string { return c.Bob.Key }),
	api.PartOf("bob_address", accountAddress, func(c *node.PaymentChannel) *address.Address { return &c.Bob.Address }),
	api.Int32("init_timeout", func(c *node.PaymentChannel) int32 { return c.InitTimeout }),
	api.Int32("close_timeout", func(c *node.PaymentChannel) int32 { return c.CloseTimeout }),
	api.Int64("channel_id", func(c *node.PaymentChannel) int64 { return c.ID }),
)

// channelTerms are the members of the first two phases of a channel.
func channelTerms[R any](of func(R) node.ChannelTerms) []api.Member[R] {
	return []api.Member[R]{
		api.Bool("signed_A", func(row R) bool { return of(row).SignedA }),
		api.Bool("signed_B", func(row R) bool { return of(row).SignedB }),
		api.Int64("min_A", func(row R) int64 { return of(row).MinA }),
		api.Int64("min_B", func(row R) int64 { return of(row).MinB }),
		api.Int64("expire_at", func(row R) int64 { return of(row).ExpireAt }),
		api.Int64("A", func(row R) int64 { return of(row).A }),
		api.Int64("B", func(row R) int64 { return of(row).B }),
	}
}

var getExtendedAddressInformation = &Method{
	Name: "getExtendedAddressInformation", Tag: tagAccounts, Summary: "Extended address information",
	Description: "Like getAddressInformation, with what is known of the contract by its code.",
	Params:      []Param{addressParam("account, in any form"), anySeqno}, Cache: time.Second,
	Result: of(extendedState, func(c *call) (e extended, err error) {
		if e.Account, err = c.account(); err == nil {
			e.contract, e.revision, err = c.Contract(c, e.Account)
		}
		return e, err
	}),
}

package render

import (
	"slices"

	"tonscribe/query/api"
	"tonscribe/schema/record"
)

// JettonMaster is a jetton master.
var JettonMaster = api.New("JettonMasterShape",
	api.Address("address", contract.GetAccount),
	api.Amount("total_supply", func(c contract) []byte { return c.JettonMaster.TotalSupply }),
	api.Bool("mintable", func(c contract) bool { return c.JettonMaster.Mintable }),
	api.Address("admin_address", func(c contract) []byte { return c.JettonMaster.Admin }).Null(),
	content("jetton_content", func(c contract) (*record.TokenContent, string) { return c.JettonMaster.Content, "" }).
		Doc("what the chain says of the jetton (TEP-64)"),
	api.Hash("jetton_wallet_code_hash", func(c contract) []byte { return c.JettonMaster.WalletCodeHash }),
	api.Hash("code_hash", contract.GetCodeHash),
	api.Hash("data_hash", contract.GetDataHash),
	api.Decimal("last_transaction_lt", contract.GetLastTransLt),
)

// JettonWalletRow is a jetton wallet with what it can claim, nil for nothing.
type JettonWalletRow struct {
	*record.Contract
	Claim *Claim
}

// Claim is what the airdrop of a mintless jetton has for a wallet's owner (TEP-177).
type Claim struct {
	Amount              []byte
	StartFrom, ExpireAt uint64
	// APIs are where the payload to claim it with can be asked for (TEP-176).
	APIs []string
}

type jettonWallet = JettonWalletRow

// JettonWallet is a jetton wallet.
var JettonWallet = api.New("JettonWalletShape",
	api.Address("address", jettonWallet.GetAccount),
	api.Amount("balance", func(w jettonWallet) []byte { return w.JettonWallet.Balance }).Doc("in the jetton's smallest units, without what can be claimed"),
	api.Address("owner", func(w jettonWallet) []byte { return w.JettonWallet.Owner }),
	api.Address("jetton", func(w jettonWallet) []byte { return w.JettonWallet.Master }).Doc("the jetton master"),
	api.Decimal("last_transaction_lt", jettonWallet.GetLastTransLt),
	api.Hash("code_hash", jettonWallet.GetCodeHash).Null(),
	api.Hash("data_hash", jettonWallet.GetDataHash).Null(),
	api.PartOf("mintless_info", claim, func(w jettonWallet) *Claim { return w.Claim }).Optional().
		Doc("what the airdrop of a mintless jetton has for the owner; missing where that is nothing, was claimed or is not known"),
)

var claim = api.New("JettonWalletMintlessInfo",
	api.Amount("amount", func(c *Claim) []byte { return c.Amount }).Doc("in the jetton's smallest units"),
	api.Int64("start_from", func(c *Claim) uint64 { return c.StartFrom }).Doc("when it can be claimed from, in Unix seconds of 48 bits"),
	api.Int64("expire_at", func(c *Claim) uint64 { return c.ExpireAt }).Doc("until when"),
	api.Texts("custom_payload_api_uri", func(c *Claim) []string { return c.APIs }).Null().Doc("where the payload to claim it with can be asked for"),
)

var deliveries = api.Words{"in_progress", "delivered", "refused", "returned", "not_sent"}

// referenced is a payload that lies in a cell of its own: others are not shown.
func referenced(payload []byte, inline bool) []byte {
	if inline {
		return nil
	}
	return payload
}

// transfer is what the records of transfers and burns have in common.
type transfer interface {
	GetTransactionHash() []byte
	GetLt() uint64
	GetNow() uint32
	GetAborted() bool
	GetCustomPayload() []byte
	GetDelivery() record.Delivery
}

// inTransaction are the members that name the transaction of a transfer.
func inTransaction[R transfer]() []api.Member[R] {
	return []api.Member[R]{
		api.Hash("transaction_hash", R.GetTransactionHash),
		api.Decimal("transaction_lt", R.GetLt),
		api.UnixTime("transaction_now", R.GetNow),
		api.Bool("transaction_aborted", R.GetAborted),
	}
}

// payload is a payload and what it says.
func payload[R any](name string, get func(R) []byte) []api.Member[R] {
	return []api.Member[R]{api.BoC(name, get).Null(), decoded(name, get)}
}

// decoded is what a payload says.
func decoded[R any](name string, get func(R) []byte) api.Member[R] {
	return api.Body("decoded_"+name, get).Doc("what it says, by the layout of its opcode; null when that is not known")
}

// forwarded is implemented by the records of transfers.
type forwarded interface {
	GetForwardPayload() []byte
	GetForwardPayloadInline() bool
}

// forwardPayload is what a transfer carries along and what that says, which is shown
// wherever it lies.
func forwardPayload[R forwarded]() []api.Member[R] {
	return []api.Member[R]{
		api.BoC("forward_payload", func(t R) []byte { return referenced(t.GetForwardPayload(), t.GetForwardPayloadInline()) }).Null().
			Doc("null where it is not in a cell of its own"),
		decoded("forward_payload", R.GetForwardPayload),
	}
}

// delivery is how the transfer ended on the receiving side.
func delivery[R transfer](receipt func(R) *record.Receipt) []api.Member[R] {
	return []api.Member[R]{
		api.Enum("delivery", deliveries, R.GetDelivery).Asked(Delivery).Doc("how the receiving side ended, with include_delivery"),
		api.Hash("delivery_transaction_hash", func(r R) []byte { return receipt(r).GetTransactionHash() }).Null().Asked(Delivery).
			Doc("the transaction of the receiving side, with include_delivery; null while there is none"),
	}
}

// Traced is what a row of a transfer has besides the transfer: the trace of its
// transaction, nil where none is known.
type Traced struct{ Trace *record.Trace }

func (t Traced) traceID() []byte { return t.Trace.GetId() }

// JettonTransferRow is a jetton transfer with its trace.
type JettonTransferRow struct {
	*record.JettonTransfer
	Traced
}

// JettonBurnRow is a burn with its trace.
type JettonBurnRow struct {
	*record.JettonBurn
	Traced
}

// NFTTransferRow is a transfer of an NFT item with its trace.
type NFTTransferRow struct {
	*record.NFTTransfer
	Traced
}

type (
	jettonTransfer = JettonTransferRow
	jettonBurn     = JettonBurnRow
	nftTransfer    = NFTTransferRow
)

// traceID is the trace of a transfer.
func traceID[R interface{ traceID() []byte }]() api.Member[R] {
	return api.Hash("trace_id", R.traceID).Null()
}

// one is a list of members for those that are joined.
func one[R any](members ...api.Member[R]) []api.Member[R] { return members }

// JettonTransfer is a jetton transfer.
var JettonTransfer = api.New("JettonTransferShape", slices.Concat(
	one(
		api.Decimal("query_id", jettonTransfer.GetQueryId),
		api.Party("source", jettonTransfer.GetSource).Doc("the sending owner"),
		api.Party("destination", jettonTransfer.GetDestination).Doc("the receiving owner"),
		api.Amount("amount", jettonTransfer.GetAmount),
		api.Address("source_wallet", jettonTransfer.GetSourceWallet),
		api.Address("jetton_master", jettonTransfer.GetMaster).Null(),
	),
	inTransaction[jettonTransfer](),
	one(api.Party("response_destination", jettonTransfer.GetResponseDestination).Null()),
	payload("custom_payload", jettonTransfer.GetCustomPayload),
	one(api.Amount("forward_ton_amount", jettonTransfer.GetForwardAmount).Null()),
	forwardPayload[jettonTransfer](),
	one(traceID[jettonTransfer]()),
	delivery(jettonTransfer.GetReceipt),
)...)

// JettonBurn is a burn.
var JettonBurn = api.New("JettonBurnShape", slices.Concat(
	one(
		api.Decimal("query_id", jettonBurn.GetQueryId),
		api.Party("owner", jettonBurn.GetOwner),
		api.Address("jetton_wallet", jettonBurn.GetWallet),
		api.Address("jetton_master", jettonBurn.GetMaster).Null(),
	),
	inTransaction[jettonBurn](),
	one(
		api.Amount("amount", jettonBurn.GetAmount),
		api.Party("response_destination", jettonBurn.GetResponseDestination).Null(),
	),
	payload("custom_payload", jettonBurn.GetCustomPayload),
	one(traceID[jettonBurn]()),
	delivery(jettonBurn.GetReceipt),
)...)

// NFTTransfer is a transfer of an NFT item.
var NFTTransfer = api.New("NftTransferShape", slices.Concat(
	one(
		api.Decimal("query_id", nftTransfer.GetQueryId),
		api.Address("nft_address", nftTransfer.GetItem),
		api.Party("nft_collection", nftTransfer.GetCollection),
	),
	inTransaction[nftTransfer](),
	one(
		api.Party("old_owner", nftTransfer.GetOldOwner),
		api.Party("new_owner", nftTransfer.GetNewOwner),
		api.Party("response_destination", nftTransfer.GetResponseDestination).Null(),
	),
	payload("custom_payload", nftTransfer.GetCustomPayload),
	one(api.Amount("forward_amount", nftTransfer.GetForwardAmount).Null()),
	forwardPayload[nftTransfer](),
	one(
		traceID[nftTransfer](),
		api.Enum("delivery", deliveries, nftTransfer.GetDelivery).Asked(Delivery).Doc("how it ended, with include_delivery"),
	),
)...)

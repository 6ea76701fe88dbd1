package endpoints

import (
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/list"
	"tonscribe/query/list/contract"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

const jettons = "Jettons"

var (
	jettonMastersAnswer   = v3.ListOf("JettonMastersAnswer", "jetton_masters", render.JettonMaster, v3.HasBook|v3.HasMetadata|v3.HasNext)
	jettonWalletsAnswer   = v3.ListOf("JettonWalletsAnswer", "jetton_wallets", render.JettonWallet, v3.HasBook|v3.HasMetadata|v3.HasNext)
	jettonTransfersAnswer = v3.ListOf("JettonTransfersAnswer", "jetton_transfers", render.JettonTransfer, v3.HasBook|v3.HasMetadata|v3.HasNext)
	jettonBurnsAnswer     = v3.ListOf("JettonBurnsAnswer", "jetton_burns", render.JettonBurn, v3.HasBook|v3.HasMetadata|v3.HasNext)
)

var jettonMasters = &v3.Endpoint{
	Path: "/jetton/masters", Tag: jettons, Summary: "Jetton masters",
	Description: "Jetton masters that match all filters, the first indexed first.",
	Params: slices.Concat([]params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "masters"},
		{Name: "admin_address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "admins of the masters"},
	}, params.UnsortedPageParams()),
	Result: jettonMastersAnswer,
	Serve: func(q *v3.Request) error {
		f := &contract.JettonMasterFilter{Addresses: q.Values.Addresses("address"), Admins: q.Values.Addresses("admin_address")}
		return serveContracts(q, jettonMastersAnswer, firstKey, v3.By(q, f, q.Store.JettonMasters))
	},
}

// serveContracts answers a page of contracts that are rows as they are.
func serveContracts(q *v3.Request, l *v3.AnswerList[*record.Contract], keyOf func(*record.Contract) contract.Key, read v3.Reading[*record.Contract, contract.Key]) error {
	return v3.ServePage(q, l, &v3.Page[*record.Contract, *record.Contract, contract.Key]{KeyOf: keyOf, Row: api.Same[*record.Contract], Read: read})
}

// firstKey is a contract's place in lists in the order of becoming known.
func firstKey(c *record.Contract) contract.Key {
	return contract.Key{Seqno: uint64(c.FirstMcSeqno), Account: address.Address(c.Account)}
}

var oneOwner = params.Unprocessable("exact one owner_address required for multiple jetton_address")

var jettonWallets = &v3.Endpoint{
	Path: "/jetton/wallets", Tag: jettons, Summary: "Jetton wallets",
	Description: "Jetton wallets that match all filters: the holders of a jetton, or what an owner holds. Without sort the first indexed come first.",
	Params: slices.Concat([]params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "jetton wallets"},
		{Name: "owner_address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "owners"},
		{Name: "jetton_address", Kind: params.AddressKind, Multi: true, Description: "jetton masters; more than one with exactly one owner_address"},
		{Name: "exclude_zero_balance", Kind: params.BoolKind, Default: "false", Description: "only wallets that hold something, or have something to claim of a mintless jetton"},
	}, params.PageParams("", "by balance")),
	Result: jettonWalletsAnswer,
	Errors: []params.Error{*oneOwner},
	Serve:  serveJettonWallets,
}

func serveJettonWallets(q *v3.Request) error {
	f := &contract.JettonWalletFilter{
		Addresses: q.Values.Addresses("address"), Owners: q.Values.Addresses("owner_address"), Masters: q.Values.Addresses("jetton_address"),
		ExcludeZero: q.Values.Bool("exclude_zero_balance"),
	}
	if len(f.Masters) > 1 && len(f.Owners) != 1 {
		return oneOwner
	}
	asked, _, err := q.Page(params.Unsorted)
	if err != nil {
		return err
	}
	f.ByBalance = asked.Sort != params.Unsorted
	var claims map[address.Address]*render.Claim
	return v3.ServePage(q, jettonWalletsAnswer, &pageOfWallets{
		KeyOf: contract.JettonWalletKey, Read: v3.By(q, f, q.Store.JettonWallets),
		Beside: func(found []*record.Contract) (err error) {
			claims, err = claimsOf(q, found)
			return err
		},
		Row: func(c *record.Contract) render.JettonWalletRow {
			return render.JettonWalletRow{Contract: c, Claim: claims[address.Address(c.Account)]}
		},
	})
}

type pageOfWallets = v3.Page[*record.Contract, render.JettonWalletRow, contract.Key]

// claimsOf are what wallets can claim of mintless jettons, with what the documents of
// these say about it.
func claimsOf(q *v3.Request, wallets []*record.Contract) (map[address.Address]*render.Claim, error) {
	found, err := q.Store.Claims(q, wallets)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	masters := map[address.Address]*record.Contract{}
	for _, c := range found {
		masters[address.Address(c.Master.Account)] = c.Master
	}
	documents, err := q.DocumentsOf(q, masters)
	if err != nil {
		return nil, err
	}
	claims := make(map[address.Address]*render.Claim, len(found))
	for a, c := range found {
		document := documents[render.LinkOf(c.Master.JettonMaster.Content)]
		claims[a] = &render.Claim{Amount: c.Amount, StartFrom: c.StartFrom, ExpireAt: c.ExpireAt, APIs: document.Texts("custom_payload_api_uri")}
	}
	return claims, nil
}

// transferParams are those of transfers and burns behind their own.
func transferParams() []params.Param {
	return slices.Concat([]params.Param{deliveryParam}, params.UtimeRange("transaction_now"), params.LTRange("transaction_lt"),
		params.PageParams("desc", "by transaction_lt, or by transaction_now with a filter of time"))
}

var (
	ownersParam     = params.Param{Name: "owner_address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "owners of the sending or of the receiving side"}
	legacyOwner     = params.Param{Name: "address", Kind: params.TextKind, Description: "one owner_address, used without that; what is no address is ignored"}
	tokenWallets    = params.Param{Name: "jetton_wallet", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "sending jetton wallets"}
	tokenMaster     = params.Param{Name: "jetton_master", Kind: params.AddressKind, Description: "jetton master"}
	tokenDirections = params.Param{
		Name: "direction", Kind: params.TextKind, Default: "both",
		Description: "in, out or both; with owner_address: in = the owner receives; any other text but both counts as out = the owner sends",
	}
)

var jettonTransfers = &v3.Endpoint{
	Path: "/jetton/transfers", Tag: jettons, Summary: "Jetton transfers",
	Description: "Jetton transfers that match all filters: one for each that a sender's wallet carried out. Transfers whose transaction was aborted are left out.",
	Params:      slices.Concat([]params.Param{ownersParam, legacyOwner, tokenWallets, tokenMaster, tokenDirections}, transferParams()),
	Result:      jettonTransfersAnswer,
	Serve: func(q *v3.Request) error {
		return serveTransfers(q, jettonTransfersAnswer, list.JettonTransferKey, func(t *record.JettonTransfer, traced render.Traced) render.JettonTransferRow {
			return render.JettonTransferRow{JettonTransfer: t, Traced: traced}
		}, v3.InView(q, transferFilter(q, "jetton_wallet", "jetton_master"), q.Store.JettonTransfers))
	},
}

var jettonBurns = &v3.Endpoint{
	Path: "/jetton/burns", Tag: jettons, Summary: "Jetton burns",
	Description: "Burns of jettons that match all filters, aborted ones too.",
	Params:      slices.Concat([]params.Param{ownersParam, legacyOwner, tokenWallets, tokenMaster}, transferParams()),
	Result:      jettonBurnsAnswer,
	Serve: func(q *v3.Request) error {
		return serveTransfers(q, jettonBurnsAnswer, list.JettonBurnKey, func(t *record.JettonBurn, traced render.Traced) render.JettonBurnRow {
			return render.JettonBurnRow{JettonBurn: t, Traced: traced}
		}, v3.InView(q, transferFilter(q, "jetton_wallet", "jetton_master"), q.Store.JettonBurns))
	},
}

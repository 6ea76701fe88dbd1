package v3

import (
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/list"
	"tonscribe/query/list/contract"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

const jettons = "Jettons"

var (
	jettonMastersAnswer   = listOf("JettonMastersAnswer", "jetton_masters", render.JettonMaster, hasBook|hasMetadata|hasNext)
	jettonWalletsAnswer   = listOf("JettonWalletsAnswer", "jetton_wallets", render.JettonWallet, hasBook|hasMetadata|hasNext)
	jettonTransfersAnswer = listOf("JettonTransfersAnswer", "jetton_transfers", render.JettonTransfer, hasBook|hasMetadata|hasNext)
	jettonBurnsAnswer     = listOf("JettonBurnsAnswer", "jetton_burns", render.JettonBurn, hasBook|hasMetadata|hasNext)
)

var jettonMasters = &Endpoint{
	Path: "/jetton/masters", Tag: jettons, Summary: "Jetton masters",
	Description: "Jetton masters that match all filters, the first indexed first.",
	Params: slices.Concat([]params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "masters"},
		{Name: "admin_address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "admins of the masters"},
	}, params.UnsortedPageParams()),
	Result: jettonMastersAnswer,
	serve: func(q *request) error {
		f := &contract.JettonMasterFilter{Addresses: q.values.Addresses("address"), Admins: q.values.Addresses("admin_address")}
		return serveContracts(q, jettonMastersAnswer, firstKey, by(q, f, q.Store.JettonMasters))
	},
}

// serveContracts answers a page of contracts that are rows as they are.
func serveContracts(q *request, l *answerList[*record.Contract], keyOf func(*record.Contract) contract.Key, read reading[*record.Contract, contract.Key]) error {
	return servePage(q, l, &page[*record.Contract, *record.Contract, contract.Key]{keyOf: keyOf, row: api.Same[*record.Contract], read: read})
}

// firstKey is a contract's place in lists in the order of becoming known.
func firstKey(c *record.Contract) contract.Key {
	return contract.Key{Seqno: uint64(c.FirstMcSeqno), Account: address.Address(c.Account)}
}

var oneOwner = params.Unprocessable("exact one owner_address required for multiple jetton_address")

var jettonWallets = &Endpoint{
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
	serve:  serveJettonWallets,
}

func serveJettonWallets(q *request) error {
	f := &contract.JettonWalletFilter{
		Addresses: q.values.Addresses("address"), Owners: q.values.Addresses("owner_address"), Masters: q.values.Addresses("jetton_address"),
		ExcludeZero: q.values.Bool("exclude_zero_balance"),
	}
	if len(f.Masters) > 1 && len(f.Owners) != 1 {
		return oneOwner
	}
	asked, _, err := q.page(params.Unsorted)
	if err != nil {
		return err
	}
	f.ByBalance = asked.Sort != params.Unsorted
	var claims map[address.Address]*render.Claim
	return servePage(q, jettonWalletsAnswer, &pageOfWallets{
		keyOf: contract.JettonWalletKey, read: by(q, f, q.Store.JettonWallets),
		before: func(found []*record.Contract) (err error) {
			claims, err = q.claimsOf(found)
			return err
		},
		row: func(c *record.Contract) render.JettonWalletRow {
			return render.JettonWalletRow{Contract: c, Claim: claims[address.Address(c.Account)]}
		},
	})
}

type pageOfWallets = page[*record.Contract, render.JettonWalletRow, contract.Key]

// claimsOf are what wallets can claim of mintless jettons, with what the documents of
// these say about it.
func (q *request) claimsOf(wallets []*record.Contract) (map[address.Address]*render.Claim, error) {
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

var jettonTransfers = &Endpoint{
	Path: "/jetton/transfers", Tag: jettons, Summary: "Jetton transfers",
	Description: "Jetton transfers that match all filters: one for each that a sender's wallet carried out. Transfers whose transaction was aborted are left out.",
	Params:      slices.Concat([]params.Param{ownersParam, legacyOwner, tokenWallets, tokenMaster, tokenDirections}, transferParams()),
	Result:      jettonTransfersAnswer,
	serve: func(q *request) error {
		return serveTransfers(q, jettonTransfersAnswer, list.JettonTransferKey, func(t *record.JettonTransfer, traced render.Traced) render.JettonTransferRow {
			return render.JettonTransferRow{JettonTransfer: t, Traced: traced}
		}, inView(q, q.transferFilter("jetton_wallet", "jetton_master"), q.Store.JettonTransfers))
	},
}

var jettonBurns = &Endpoint{
	Path: "/jetton/burns", Tag: jettons, Summary: "Jetton burns",
	Description: "Burns of jettons that match all filters, aborted ones too.",
	Params:      slices.Concat([]params.Param{ownersParam, legacyOwner, tokenWallets, tokenMaster}, transferParams()),
	Result:      jettonBurnsAnswer,
	serve: func(q *request) error {
		return serveTransfers(q, jettonBurnsAnswer, list.JettonBurnKey, func(t *record.JettonBurn, traced render.Traced) render.JettonBurnRow {
			return render.JettonBurnRow{JettonBurn: t, Traced: traced}
		}, inView(q, q.transferFilter("jetton_wallet", "jetton_master"), q.Store.JettonBurns))
	},
}

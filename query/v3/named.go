package v3

import (
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/list/contract"
	"tonscribe/query/list/paging"
	"tonscribe/query/multisig"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

var (
	noNameAsked  = params.Unprocessable("either wallet address or domain is required")
	oneNameAsked = params.Unprocessable("provide either wallet address or domain, not both")
)

var (
	dnsAnswer             = listOf("DnsAnswer", "records", render.DNSRecord, hasBook|hasNext)
	multisigWalletsAnswer = listOf("MultisigWalletsAnswer", "multisigs", render.Multisig, hasBook|hasNext)
	multisigOrdersAnswer  = listOf("MultisigOrdersAnswer", "orders", render.MultisigOrder, hasBook|hasNext)
	vestingAnswer         = listOf("VestingAnswer", "vesting_contracts", render.Vesting, hasBook|hasNext)
)

var dnsRecords = &Endpoint{
	Path: "/dns/records", Tag: "DNS", Summary: "DNS records",
	Description: "The records of a domain, or of the domains whose wallet record names an account: the shortest domain first. With neither and a limit, all of them, the first indexed first.",
	Params: []params.Param{
		{Name: "wallet", Kind: params.AddressKind, Description: "account that the wallet records name"},
		{Name: "domain", Kind: params.TextKind, Description: "whole domain, as in name.ton; letters are not folded"},
		params.LimitParam("100"), params.OffsetParam, params.CursorParam,
	},
	Result: dnsAnswer,
	Errors: []params.Error{*noNameAsked, *oneNameAsked},
	serve:  serveDNS,
}

func serveDNS(q *request) error {
	f := &contract.DNSFilter{Domain: q.values.Text("domain"), Wallet: q.address("wallet")}
	switch {
	case f.Domain == "" && f.Wallet == nil && q.wholeList():
		return serveContracts(q, dnsAnswer, firstKey, func(page paging.Page, after *contract.Key) ([]*record.Contract, bool, error) {
			return q.Store.AllNames(q, page, after)
		})
	case f.Domain == "" && f.Wallet == nil:
		return noNameAsked
	case f.Domain != "" && f.Wallet != nil:
		return oneNameAsked
	}
	return servePage(q, dnsAnswer, &page[*record.Contract, *record.Contract, contract.DNSKey]{
		row: api.Same[*record.Contract], read: by(q, f, q.Store.Names),
		keyOf: func(c *record.Contract) contract.DNSKey {
			return contract.DNSKey{Length: uint32(len(c.NftItem.Dns.Domain)), Item: address.Address(c.Account)}
		},
	})
}

// wholeList says that a list without a filter is meant: only who asks for a page
// of a certain size gets one. Without that a missing filter is taken for a
// mistake.
func (q *request) wholeList() bool { return q.values.Sent("limit") }

const tagMultisig = "Multisig"

var (
	noMultisig = params.Unprocessable("At least one of address or wallet_address should be specified")
	noOrder    = params.Unprocessable("At least one of address or multisig_address should be specified")
)

var multisigWallets = &Endpoint{
	Path: "/multisig/wallets", Tag: tagMultisig, Summary: "Multisig wallets",
	Description: "Multisig wallets that match all filters, with their orders. Without a filter and with a limit, all of them.",
	Params: slices.Concat([]params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "multisig contracts"},
		{Name: "wallet_address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "signers or proposers"},
		{Name: "include_orders", Kind: params.BoolKind, Default: "true", Description: "with the orders of each, oldest first"},
	}, params.PageParams("desc", "by when they were first indexed")),
	Result: multisigWalletsAnswer,
	Errors: []params.Error{*noMultisig},
	serve:  serveMultisigs,
}

func serveMultisigs(q *request) error {
	f := &contract.MultisigFilter{Addresses: q.values.Addresses("address"), Members: q.values.Addresses("wallet_address")}
	if len(f.Addresses) == 0 && len(f.Members) == 0 && !q.wholeList() {
		return noMultisig
	}
	withOrders := !q.values.Sent("include_orders") || q.values.Bool("include_orders")
	var ordersOf map[address.Address][]*record.Contract
	return servePage(q, multisigWalletsAnswer, &page[*record.Contract, render.MultisigRow, contract.Key]{
		sort: params.Descending, keyOf: firstKey, read: by(q, f, q.Store.Multisigs),
		before: func(list []*record.Contract) (err error) {
			if !withOrders {
				return nil
			}
			multisigs := make([]address.Address, len(list))
			for i, c := range list {
				multisigs[i] = address.Address(c.Account)
			}
			ordersOf, err = q.Store.OrdersOf(q, multisigs)
			return err
		},
		row: func(c *record.Contract) render.MultisigRow {
			return render.MultisigRow{Contract: c, IncludeOrders: withOrders, Orders: ordersOf[address.Address(c.Account)]}
		},
	})
}

var multisigOrders = &Endpoint{
	Path: "/multisig/orders", Tag: tagMultisig, Summary: "Multisig orders",
	Description: "Orders of multisig wallets that match all filters. Without a filter and with a limit, all of them.",
	Params: slices.Concat([]params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "order contracts"},
		{Name: "multisig_address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "multisig contracts"},
		{Name: "parse_actions", Kind: params.BoolKind, Default: "false", Description: "take the order apart into actions"},
	}, params.PageParams("desc", "by when they were first indexed")),
	Result: multisigOrdersAnswer,
	Errors: []params.Error{*noOrder},
	serve:  serveMultisigOrders,
}

func serveMultisigOrders(q *request) error {
	f := &contract.MultisigFilter{Addresses: q.values.Addresses("address"), Multisigs: q.values.Addresses("multisig_address")}
	if len(f.Addresses) == 0 && len(f.Multisigs) == 0 && !q.wholeList() {
		return noOrder
	}
	var actions func(*api.Writer, *record.MultisigOrder)
	if q.values.Bool("parse_actions") {
		left := multisig.MaxAnswerBytes
		actions = func(w *api.Writer, order *record.MultisigOrder) {
			w.JSON = append(w.JSON, multisig.Actions(order.Order, &left, w.Book.Add)...)
		}
	}
	return servePage(q, multisigOrdersAnswer, &page[*record.Contract, render.OrderRow, contract.Key]{
		sort: params.Descending, keyOf: firstKey, read: by(q, f, q.Store.MultisigOrders),
		row: func(c *record.Contract) render.OrderRow { return render.OrderRow{Contract: c, Actions: actions} },
	})
}

var (
	noVesting    = params.Unprocessable("at least one of contract_address or wallet_address is required")
	eitherOfBoth = params.Unprocessable("only one of contract_address or wallet_address should be specified")
)

var vesting = &Endpoint{
	Path: "/vesting", Tag: "Vesting", Summary: "Vesting contracts",
	Description: "Vesting contracts by their address, or by their owner or sender, the first indexed first. With neither and a limit, all of them.",
	Params: slices.Concat([]params.Param{
		{Name: "contract_address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "vesting contracts"},
		{Name: "wallet_address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "owners or senders"},
		{Name: "check_whitelist", Kind: params.BoolKind, Default: "false", Description: "also contracts that have wallet_address on their whitelist"},
	}, params.UnsortedPageParams()),
	Result: vestingAnswer,
	Errors: []params.Error{*noVesting, *eitherOfBoth},
	serve: func(q *request) error {
		f := &contract.VestingFilter{
			Addresses: q.values.Addresses("contract_address"), Wallets: q.values.Addresses("wallet_address"), Whitelisted: q.values.Bool("check_whitelist"),
		}
		switch {
		case len(f.Addresses) == 0 && len(f.Wallets) == 0 && !q.wholeList():
			return noVesting
		case len(f.Addresses) > 0 && len(f.Wallets) > 0:
			return eitherOfBoth
		}
		return serveContracts(q, vestingAnswer, firstKey, by(q, f, q.Store.Vestings))
	},
}

package endpoints

import (
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/list/contract"
	"tonscribe/query/list/paging"
	"tonscribe/query/multisig"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

var (
	noNameAsked  = params.Unprocessable("either wallet address or domain is required")
	oneNameAsked = params.Unprocessable("provide either wallet address or domain, not both")
)

var (
	dnsAnswer             = v3.ListOf("DnsAnswer", "records", render.DNSRecord, v3.HasBook|v3.HasNext)
	multisigWalletsAnswer = v3.ListOf("MultisigWalletsAnswer", "multisigs", render.Multisig, v3.HasBook|v3.HasNext)
	multisigOrdersAnswer  = v3.ListOf("MultisigOrdersAnswer", "orders", render.MultisigOrder, v3.HasBook|v3.HasNext)
	vestingAnswer         = v3.ListOf("VestingAnswer", "vesting_contracts", render.Vesting, v3.HasBook|v3.HasNext)
)

var dnsRecords = &v3.Endpoint{
	Path: "/dns/records", Tag: "DNS", Summary: "DNS records",
	Description: "The records of a domain, or of the domains whose wallet record names an account: the shortest domain first. With neither and a limit, all of them, the first indexed first.",
	Params: []params.Param{
		{Name: "wallet", Kind: params.AddressKind, Description: "account that the wallet records name"},
		{Name: "domain", Kind: params.TextKind, Description: "whole domain, as in name.ton; letters are not folded"},
		params.LimitParam("100"), params.OffsetParam, params.CursorParam,
	},
	Result: dnsAnswer,
	Errors: []params.Error{*noNameAsked, *oneNameAsked},
	Serve:  serveDNS,
}

func serveDNS(q *v3.Request) error {
	f := &contract.DNSFilter{Domain: q.Values.Text("domain"), Wallet: q.Address("wallet")}
	switch {
	case f.Domain == "" && f.Wallet == nil && wholeList(q):
		return serveContracts(q, dnsAnswer, firstKey, func(page paging.Page, after *contract.Key) ([]*record.Contract, bool, error) {
			return q.Store.AllNames(q, page, after)
		})
	case f.Domain == "" && f.Wallet == nil:
		return noNameAsked
	case f.Domain != "" && f.Wallet != nil:
		return oneNameAsked
	}
	return v3.ServePage(q, dnsAnswer, &v3.Page[*record.Contract, *record.Contract, contract.DNSKey]{
		Row: api.Same[*record.Contract], Read: v3.By(q, f, q.Store.Names),
		KeyOf: func(c *record.Contract) contract.DNSKey {
			return contract.DNSKey{Length: uint32(len(c.NftItem.Dns.Domain)), Item: address.Address(c.Account)}
		},
	})
}

// wholeList reports whether a list without a filter is meant: only who asks for a page
// of a certain size gets one. Without that a missing filter is taken for a
// mistake.
func wholeList(q *v3.Request) bool { return q.Values.Sent("limit") }

const tagMultisig = "Multisig"

var (
	noMultisig = params.Unprocessable("At least one of address or wallet_address should be specified")
	noOrder    = params.Unprocessable("At least one of address or multisig_address should be specified")
)

var multisigWallets = &v3.Endpoint{
	Path: "/multisig/wallets", Tag: tagMultisig, Summary: "Multisig wallets",
	Description: "Multisig wallets that match all filters, with their orders. Without a filter and with a limit, all of them.",
	Params: slices.Concat([]params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "multisig contracts"},
		{Name: "wallet_address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "signers or proposers"},
		{Name: "include_orders", Kind: params.BoolKind, Default: "true", Description: "with the orders of each, oldest first"},
	}, params.PageParams("desc", "by when they were first indexed")),
	Result: multisigWalletsAnswer,
	Errors: []params.Error{*noMultisig},
	Serve:  serveMultisigs,
}

func serveMultisigs(q *v3.Request) error {
	f := &contract.MultisigFilter{Addresses: q.Values.Addresses("address"), Members: q.Values.Addresses("wallet_address")}
	if len(f.Addresses) == 0 && len(f.Members) == 0 && !wholeList(q) {
		return noMultisig
	}
	withOrders := !q.Values.Sent("include_orders") || q.Values.Bool("include_orders")
	var ordersOf map[address.Address][]*record.Contract
	return v3.ServePage(q, multisigWalletsAnswer, &v3.Page[*record.Contract, render.MultisigRow, contract.Key]{
		Sort: params.Descending, KeyOf: firstKey, Read: v3.By(q, f, q.Store.Multisigs),
		Beside: func(list []*record.Contract) (err error) {
			if !withOrders {
				return nil
			}
			multisigs := make([]address.Address, len(list))
			for i, c := range list {
				multisigs[i] = address.Address(c.Account)
			}
			var cut bool
			if ordersOf, cut, err = q.Store.OrdersOf(q, multisigs); cut {
				q.Hints = append(q.Hints, "some orders are left out: all of them are too many, page through them with multisig/orders")
			}
			return err
		},
		Row: func(c *record.Contract) render.MultisigRow {
			return render.MultisigRow{Contract: c, IncludeOrders: withOrders, Orders: ordersOf[address.Address(c.Account)]}
		},
	})
}

var multisigOrders = &v3.Endpoint{
	Path: "/multisig/orders", Tag: tagMultisig, Summary: "Multisig orders",
	Description: "Orders of multisig wallets that match all filters. Without a filter and with a limit, all of them.",
	Params: slices.Concat([]params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "order contracts"},
		{Name: "multisig_address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "multisig contracts"},
		{Name: "parse_actions", Kind: params.BoolKind, Default: "false", Description: "take the order apart into actions"},
	}, params.PageParams("desc", "by when they were first indexed")),
	Result: multisigOrdersAnswer,
	Errors: []params.Error{*noOrder},
	Serve:  serveMultisigOrders,
}

func serveMultisigOrders(q *v3.Request) error {
	f := &contract.MultisigFilter{Addresses: q.Values.Addresses("address"), Multisigs: q.Values.Addresses("multisig_address")}
	if len(f.Addresses) == 0 && len(f.Multisigs) == 0 && !wholeList(q) {
		return noOrder
	}
	var actions func(*api.Writer, *record.MultisigOrder)
	if q.Values.Bool("parse_actions") {
		left := multisig.MaxAnswerBytes
		actions = func(w *api.Writer, order *record.MultisigOrder) {
			w.JSON = append(w.JSON, multisig.Actions(order.Order, &left, w.Book.Add)...)
		}
	}
	return v3.ServePage(q, multisigOrdersAnswer, &v3.Page[*record.Contract, render.OrderRow, contract.Key]{
		Sort: params.Descending, KeyOf: firstKey, Read: v3.By(q, f, q.Store.MultisigOrders),
		Row: func(c *record.Contract) render.OrderRow { return render.OrderRow{Contract: c, Actions: actions} },
	})
}

var (
	noVesting    = params.Unprocessable("at least one of contract_address or wallet_address is required")
	eitherOfBoth = params.Unprocessable("only one of contract_address or wallet_address should be specified")
)

var vesting = &v3.Endpoint{
	Path: "/vesting", Tag: "Vesting", Summary: "Vesting contracts",
	Description: "Vesting contracts by their address, or by their owner or sender, the first indexed first. With neither and a limit, all of them.",
	Params: slices.Concat([]params.Param{
		{Name: "contract_address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "vesting contracts"},
		{Name: "wallet_address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "owners or senders"},
		{Name: "check_whitelist", Kind: params.BoolKind, Default: "false", Description: "also contracts that have wallet_address on their whitelist"},
	}, params.UnsortedPageParams()),
	Result: vestingAnswer,
	Errors: []params.Error{*noVesting, *eitherOfBoth},
	Serve: func(q *v3.Request) error {
		f := &contract.VestingFilter{
			Addresses: q.Values.Addresses("contract_address"), Wallets: q.Values.Addresses("wallet_address"), Whitelisted: q.Values.Bool("check_whitelist"),
		}
		switch {
		case len(f.Addresses) == 0 && len(f.Wallets) == 0 && !wholeList(q):
			return noVesting
		case len(f.Addresses) > 0 && len(f.Wallets) > 0:
			return eitherOfBoth
		}
		return serveContracts(q, vestingAnswer, firstKey, v3.By(q, f, q.Store.Vestings))
	},
}

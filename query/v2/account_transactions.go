package v2

import (
	"context"
	"time"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/ton/address"
)

// historyParams are those of getTransactions and getTransactionsStd.
var historyParams = []Param{
	addressParam("account, in any form"),
	{Name: "limit", Kind: Int64Kind, Default: "10", Min: bound(1), Max: bound(1000), Description: "the most transactions that are returned"},
	{Name: "lt", Kind: Int64Kind, Min: bound(0), Description: "lt of the transaction to start with; send it with hash. Without both the newest one"},
	{Name: "hash", Kind: HashKind, Description: "hash of the transaction to start with"},
	{Name: "to_lt", Kind: Int64Kind, Default: "0", Description: "stop at this lt, which is left out; 0 is no bound"},
	{Name: "archival", Kind: BoolKind, Default: "false", Description: "ask servers that keep the whole history; others keep two days at least"},
}

var errTogether = unprocessable("lt and hash should be used together")

var getTransactions = &Method{
	Name: "getTransactions", Tag: tagTransactions, Summary: "Transactions of an account",
	Description: "Transactions of an account, the newest first, from one back, that one included.",
	Params:      historyParams, Cache: time.Second,
	Errors: []Error{*errTogether},
	check: func(v *Values) error {
		// An lt of 0 counts as none.
		if (v.sent("lt") && v.number("lt") != 0) != v.sent("hash") {
			return errTogether
		}
		return nil
	},
	Result: of(api.Rows[*node.Transaction]{Of: extTransaction}, func(c *call) ([]*node.Transaction, error) { return c.history(c.sent("hash")) }),
}

var getTransactionsStd = &Method{
	Name: "getTransactionsStd", Tag: tagTransactions, Summary: "Transactions of an account, standardized",
	Description: "Like getTransactions, in the forms of the node library, with previous_transaction_id to go on from.",
	Params:      historyParams, Cache: time.Second,
	Errors: []Error{*errTogether},
	check: func(v *Values) error {
		if v.sent("lt") != v.sent("hash") {
			return errTogether
		}
		return nil
	},
	Result: of(api.Typed("TransactionList", "raw.transactions",
		api.List("transactions", rawTransaction, api.Same[[]*node.Transaction], api.Same[*node.Transaction]),
		api.Object("previous_transaction_id", transactionID, func(list []*node.Transaction) *node.TransactionID {
			if len(list) == 0 {
				return &node.TransactionID{}
			}
			return &list[len(list)-1].Previous
		}, nil),
	), func(c *call) ([]*node.Transaction, error) { return c.history(c.sent("lt")) }),
}

// history reads transactions from the start that was sent, or from the newest one.
func (c *call) history(started bool) ([]*node.Transaction, error) {
	h := node.History{
		Account: c.address("address").Address, Stop: uint64(max(c.number("to_lt"), 0)),
		Limit: int(c.number("limit")), Archival: c.flag("archival"),
	}
	if started {
		h.From = &node.TransactionID{LT: uint64(c.number("lt")), Hash: c.hash("hash")}
	}
	return c.Transactions(c, h)
}

var locateParams = []Param{
	{Name: "source", Kind: AddressKind, Required: true, Missing: "empty source address", Description: "sender of the message"},
	{Name: "destination", Kind: AddressKind, Required: true, Missing: "empty destination address", Description: "receiver of the message"},
	{Name: "created_lt", Kind: Int64Kind, Required: true, Min: bound(0), Description: "created_lt of the message"},
}

// locate is a method that finds a transaction by a message.
func locate(name, summary, description string, find func(n *node.Node, ctx context.Context, source, destination address.Address, lt uint64) (*node.Transaction, error)) *Method {
	return &Method{
		Name: name, Tag: tagTransactions, Summary: summary, Description: description,
		Params: locateParams, Cache: time.Second, Parallel: 16,
		Errors: ofNode(node.ErrNotLocated),
		Result: of(extTransaction, func(c *call) (*node.Transaction, error) {
			return find(c.Node, c, c.address("source").Address, c.address("destination").Address, uint64(c.number("created_lt")))
		}),
	}
}

const aboutResult = "The transaction that a message caused, soon after the message was sent."

var (
	tryLocateTx       = locate("tryLocateTx", "Locate a transaction", aboutResult, (*node.Node).LocateResult)
	tryLocateResultTx = locate("tryLocateResultTx", "Locate a result transaction", aboutResult, (*node.Node).LocateResult)
	tryLocateSourceTx = locate("tryLocateSourceTx", "Locate a source transaction", "The transaction that sent a message.", (*node.Node).LocateSource)
)

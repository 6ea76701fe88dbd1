package v2

import (
	"time"

	"tonscribe/internal/lite"
	"tonscribe/query/openapi"
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

// transactionList is a page of an account's transactions.
type transactionList struct {
	_            typed             `type:"raw.transactions"`
	Transactions []*rawTransaction `json:"transactions"`
	Previous     transactionID     `json:"previous_transaction_id"`
}

var getTransactions = &Method{
	Name: "getTransactions", Tag: tagTransactions, Summary: "Transactions of an account",
	Description: "Transactions of an account, the newest first, from one back, that one included.",
	Params:      historyParams, Cache: time.Second,
	Errors: []Error{*errTogether},
	Result: openapi.TypeOf[[]*extTransaction](),
	check: func(v *Values) error {
		// An lt of 0 counts as none.
		if (v.sent("lt") && v.number("lt") != 0) != v.sent("hash") {
			return errTogether
		}
		return nil
	},
	serve: func(c *call) (any, error) {
		found, err := c.history(c.sent("hash"))
		if err != nil {
			return nil, err
		}
		list := make([]*extTransaction, 0, len(found))
		for _, t := range found {
			list = append(list, t.ext())
		}
		return list, nil
	},
}

var getTransactionsStd = &Method{
	Name: "getTransactionsStd", Tag: tagTransactions, Summary: "Transactions of an account, standardized",
	Description: "Like getTransactions, in the forms of the node library, with previous_transaction_id to go on from.",
	Params:      historyParams, Cache: time.Second,
	Errors: []Error{*errTogether},
	Result: openapi.TypeOf[transactionList](),
	check: func(v *Values) error {
		if v.sent("lt") != v.sent("hash") {
			return errTogether
		}
		return nil
	},
	serve: func(c *call) (any, error) {
		found, err := c.history(c.sent("lt"))
		if err != nil {
			return nil, err
		}
		result := transactionList{}
		for _, t := range found {
			result.Transactions = append(result.Transactions, t.raw())
			result.Previous = t.previous
		}
		return result, nil
	},
}

// history reads transactions from the start that was sent, or from the newest
// one.
func (c *call) history(started bool) ([]*transaction, error) {
	address := c.Values.address("address")
	at := transactionID{LT: uint64(c.number("lt")), Hash: c.hash("hash")}
	if !started {
		master, err := c.node.Head(c)
		if err != nil {
			return nil, err
		}
		state, err := c.accountAt(master, *address)
		if err != nil {
			return nil, err
		}
		at = state.last
	}
	stop := uint64(max(c.number("to_lt"), 0))
	return c.walk(*address, at, int(c.number("limit")), stop, c.flag("archival"))
}

// mostInPiece is how many transactions lite servers give at a time.
const mostInPiece = 16

// walk follows an account's transactions back.
func (c *call) walk(address Address, at transactionID, limit int, stop uint64, archival bool) ([]*transaction, error) {
	var list []*transaction
	for at.LT > stop && len(list) < limit {
		piece, err := c.piece(address, at, min(limit-len(list), mostInPiece), archival)
		if err != nil {
			return nil, err
		}
		if len(piece) == 0 {
			return list, nil
		}
		for _, found := range piece {
			t, err := parseTransaction(address.Workchain, found.Cell)
			if err != nil {
				return nil, err
			}
			if t.ID.LT <= stop {
				return list, nil
			}
			list = append(list, t)
			at = t.previous
		}
	}
	return list, nil
}

// piece asks for some transactions; what servers do not have any more is asked
// of those that keep everything.
func (c *call) piece(address Address, at transactionID, count int, archival bool) ([]lite.Transaction, error) {
	found, err := c.node.Transactions(c, address.tonutils(), at.LT, at.Hash[:], count, archival)
	if err == nil || archival || !lite.IsMissing(err) {
		return found, err
	}
	again, second := c.node.Transactions(c, address.tonutils(), at.LT, at.Hash[:], count, true)
	if second != nil {
		return nil, err // the first reason tells more
	}
	return again, nil
}

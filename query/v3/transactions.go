package v3

import (
	"slices"

	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/traced"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/schema/record"
)

var transactionsAnswer = listOf("TransactionsAnswer", "transactions", render.Transaction, hasBook|hasNext)

var transactions = &Endpoint{
	Path: "/transactions", Tag: blockchainData, Summary: "Transactions",
	Description: "Transactions that match all filters.",
	Params: slices.Concat(blockParams, []params.Param{
		mcSeqnoParam,
		{Name: "account", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "accounts"},
		{Name: "exclude_account", Kind: params.AddressKind, Multi: true, Description: "accepted, without effect"},
		{Name: "hash", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "hashes of the transactions"},
		{Name: "lt", Kind: params.Uint64Kind, Description: "lt of the transactions"},
	}, params.UtimeRange("now"), params.LTRange("lt"), params.PageParams("desc", "by lt, or by now with a filter of time")),
	Result: transactionsAnswer,
	Errors: []params.Error{*params.NotFound("masterchain block N not found")},
	serve:  serveTransactions,
}

func serveTransactions(q *request) error {
	f := &list.TransactionFilter{
		Workchain: q.int32("workchain"), Shard: q.number("shard"), Seqno: q.int32("seqno"), McSeqno: q.int32("mc_seqno"),
		Accounts: q.values.Addresses("account"), Hashes: q.values.Hashes("hash"), Lt: q.number("lt"),
		Utime: q.span("start_utime", "end_utime"), Lts: q.span("start_lt", "end_lt"),
	}
	if q.values.Sent("exclude_account") {
		q.hints = append(q.hints, "exclude_account has no effect")
	}
	nothing := q.values.Sent("account") && len(f.Accounts) == 0
	return q.serveTransactions(f.McSeqno, f.Named(), func(page paging.Page, after *list.TransactionKey) ([]*record.Transaction, bool, error) {
		if nothing {
			return nil, false, nil
		}
		return q.Store.Transactions(q, q.View, f, page, after)
	})
}

var transactionsByMasterchainBlock = &Endpoint{
	Path: "/transactionsByMasterchainBlock", Tag: blockchainData, Summary: "Transactions of a masterchain block",
	Description: "The transactions of all blocks that a masterchain block commits.",
	Params:      slices.Concat([]params.Param{seqnoParam}, params.PageParams("desc", "by lt")),
	Result:      transactionsAnswer,
	Errors:      []params.Error{*params.NotFound("masterchain block N not found")},
	serve: func(q *request) error {
		seqno, _ := q.values.Int32("seqno")
		f := &list.TransactionFilter{McSeqno: &seqno, Utime: list.Everything, Lts: list.Everything}
		return q.serveTransactions(&seqno, nil, inView(q, f, q.Store.Transactions))
	},
}

// serveTransactions answers a page. master must be known when it is given. The traces
// of those that are named, nil for none, are read beside them.
func (q *request) serveTransactions(master *int32, named *list.Named, read reading[*record.Transaction, list.TransactionKey]) error {
	var row func(*record.Transaction) render.TransactionRow
	var known traced.Rows
	return servePage(q, transactionsAnswer, &page[*record.Transaction, render.TransactionRow, list.TransactionKey]{
		sort: params.Descending, keyOf: list.KeyOf, none: q.knows(master),
		read: func(page paging.Page, after *list.TransactionKey) ([]*record.Transaction, bool, error) {
			wait := q.Store.TracedBeside(q, q.View, named)
			found, more, err := read(page, after)
			known = wait()
			return found, more, err
		},
		before: func(found []*record.Transaction) (err error) {
			row, err = q.traced(found, known)
			return err
		},
		row: func(tx *record.Transaction) render.TransactionRow { return row(tx) },
	})
}

var adjacentTransactions = &Endpoint{
	Path: "/adjacentTransactions", Tag: blockchainData, Summary: "Adjacent transactions",
	Description: "The transaction that produced the inbound message of a transaction, and those that consumed its outbound messages.",
	Params: []params.Param{
		{Name: "hash", Kind: params.HashKind, Required: true, Description: "hash of the transaction"},
		{Name: "direction", Kind: params.TextKind, Enum: []string{"in", "out"}, Description: "in: only the producer, out: only the consumers"},
	},
	Result: transactionsAnswer,
	Errors: []params.Error{*params.NotFound("adjacent transactions not found")},
	serve: func(q *request) error {
		direction, err := q.direction()
		if err != nil {
			direction = list.Either // any other text means both
		}
		var list []*record.Transaction
		if hash := q.hash("hash"); hash != nil {
			if list, err = q.Store.Adjacent(q, q.View, *hash, direction); err != nil {
				return err
			}
		}
		if len(list) == 0 {
			return params.NotFound("adjacent transactions not found")
		}
		row, err := q.traced(list, nil)
		if err != nil {
			return err
		}
		return serveRows(q, transactionsAnswer, 0, list, nil, row)
	},
}

package endpoints

import (
	"slices"

	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/traced"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
)

var transactionsAnswer = v3.ListOf("TransactionsAnswer", "transactions", render.Transaction, v3.HasBook|v3.HasNext)

var transactions = &v3.Endpoint{
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
	Serve:  serveTransactions,
}

func serveTransactions(q *v3.Request) error {
	f := &list.TransactionFilter{
		Workchain: q.Int32("workchain"), Shard: q.Number("shard"), Seqno: q.Int32("seqno"), McSeqno: q.Int32("mc_seqno"),
		Accounts: q.Values.Addresses("account"), Hashes: q.Values.Hashes("hash"), Lt: q.Number("lt"),
		Utime: q.Span("start_utime", "end_utime"), Lts: q.Span("start_lt", "end_lt"),
	}
	if q.Values.Sent("exclude_account") {
		q.Hints = append(q.Hints, "exclude_account has no effect")
	}
	nothing := q.Values.Sent("account") && len(f.Accounts) == 0
	return serveTransactionPage(q, f.McSeqno, f.Named(), func(page paging.Page, after *list.TransactionKey) ([]*record.Transaction, bool, error) {
		if nothing {
			return nil, false, nil
		}
		return q.Store.Transactions(q, q.View, f, page, after)
	})
}

var transactionsByMasterchainBlock = &v3.Endpoint{
	Path: "/transactionsByMasterchainBlock", Tag: blockchainData, Summary: "Transactions of a masterchain block",
	Description: "The transactions of all blocks that a masterchain block commits.",
	Params:      slices.Concat([]params.Param{seqnoParam}, params.PageParams("desc", "by lt")),
	Result:      transactionsAnswer,
	Errors:      []params.Error{*params.NotFound("masterchain block N not found")},
	Serve: func(q *v3.Request) error {
		seqno, _ := q.Values.Int32("seqno")
		f := &list.TransactionFilter{McSeqno: &seqno, Utime: list.Everything, Lts: list.Everything}
		return serveTransactionPage(q, &seqno, nil, v3.InView(q, f, q.Store.Transactions))
	},
}

// serveTransactionPage answers a page. master must be known when it is given. The traces
// of those that are named, or of an account's page where none is, are read beside them.
func serveTransactionPage(q *v3.Request, master *int32, named *list.Named, read v3.Reading[*record.Transaction, list.TransactionKey]) error {
	row := render.TransactionOf
	var known traced.Rows
	return v3.ServePage(q, transactionsAnswer, &v3.Page[*record.Transaction, render.TransactionRow, list.TransactionKey]{
		Sort: params.Descending, KeyOf: list.KeyOf, None: knows(q, master),
		Read: func(page paging.Page, after *list.TransactionKey) ([]*record.Transaction, bool, error) {
			var wait func() traced.Rows
			if named != nil {
				wait = q.Store.TracedBeside(q, q.View, named)
			} else {
				wait = q.Store.TracedBesidePage(q, q.View, &page)
			}
			found, more, err := read(page, after)
			known = wait()
			return found, more, err
		},
		Beside: func(found []*record.Transaction) (err error) {
			row, err = withTraces(q, found, known)
			return err
		},
		Row: func(tx *record.Transaction) render.TransactionRow { return row(tx) },
	})
}

var adjacentTransactions = &v3.Endpoint{
	Path: "/adjacentTransactions", Tag: blockchainData, Summary: "Adjacent transactions",
	Description: "The transaction that produced the inbound message of a transaction, and those that consumed its outbound messages.",
	Params: []params.Param{
		{Name: "hash", Kind: params.HashKind, Required: true, Description: "hash of the transaction"},
		{Name: "direction", Kind: params.TextKind, Enum: []string{"in", "out"}, Description: "in: only the producer, out: only the consumers"},
	},
	Result: transactionsAnswer,
	Errors: []params.Error{*params.NotFound("adjacent transactions not found")},
	Serve: func(q *v3.Request) error {
		direction, err := q.Direction()
		if err != nil {
			direction = list.Either // any other text means both
		}
		found, known, err := adjacent(q, direction)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return params.NotFound("adjacent transactions not found")
		}
		row, err := withTraces(q, found, known)
		if err != nil {
			return err
		}
		return v3.ServeRows(q, transactionsAnswer, 0, found, nil, row)
	},
}

// adjacent reads the transactions next to the one that the request names, by lt, and beside
// them which traces some of them are of.
func adjacent(q *v3.Request, direction list.Direction) ([]*record.Transaction, traced.Rows, error) {
	hash := q.Hash("hash")
	if hash == nil {
		return nil, nil, nil
	}
	of, err := q.Store.TransactionsWith(q, q.View, []list.Hash{*hash})
	if err != nil || len(of) == 0 {
		return nil, nil, err
	}
	n := list.NamedNeighbours(of[0], direction)
	if n == nil {
		return nil, nil, nil
	}
	wait := q.Store.TracedBeside(q, q.View, n)
	found, err := n.Read(q.Store.Lists, q, q.View, n.Hashes)
	return found, wait(), err
}

package v3

import (
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/store"
	"tonscribe/schema/record"
)

var transactions = &Endpoint{
	Path: "/transactions", Tag: blockchainData, Summary: "Transactions",
	Description: "Transactions that match all filters.",
	Params: params.Join(blockParams, []params.Param{
		mcSeqnoParam,
		{Name: "account", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "accounts"},
		{Name: "exclude_account", Kind: params.AddressKind, Multi: true, Description: "accepted, without effect"},
		{Name: "hash", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "hashes of the transactions"},
		{Name: "lt", Kind: params.Uint64Kind, Description: "lt of the transactions"},
	}, params.UtimeRange("now"), params.LTRange("lt"), params.PageParams("desc", "by lt, or by now with a filter of time")),
	Result: resultOf[transactionsAnswer](),
	Errors: []params.Error{*params.NotFound("masterchain block N not found")},
	serve:  serveTransactions,
}

func serveTransactions(q *request) error {
	f := &store.TransactionFilter{
		Workchain: q.int32("workchain"), Shard: q.number("shard"), Seqno: q.int32("seqno"), McSeqno: q.int32("mc_seqno"),
		Accounts: q.values.Addresses("account"), Hashes: q.values.Hashes("hash"), Lt: q.number("lt"),
		Utime: q.span("start_utime", "end_utime"), Lts: q.span("start_lt", "end_lt"),
	}
	if q.values.Sent("exclude_account") {
		q.hints = append(q.hints, "exclude_account has no effect")
	}
	nothing := q.values.Sent("account") && len(f.Accounts) == 0
	return q.serveTransactions(f.McSeqno, func(page store.Page, after *store.TransactionKey) ([]*record.Transaction, bool, error) {
		if nothing {
			return nil, false, nil
		}
		return q.store.Transactions(q, q.view, f, page, after)
	})
}

var transactionsByMasterchainBlock = &Endpoint{
	Path: "/transactionsByMasterchainBlock", Tag: blockchainData, Summary: "Transactions of a masterchain block",
	Description: "The transactions of all blocks that a masterchain block commits.",
	Params:      params.Join([]params.Param{seqnoParam}, params.PageParams("desc", "by lt")),
	Result:      resultOf[transactionsAnswer](),
	Errors:      []params.Error{*params.NotFound("masterchain block N not found")},
	serve: func(q *request) error {
		seqno, _ := q.values.Int32("seqno")
		f := &store.TransactionFilter{McSeqno: &seqno, Utime: store.Everything, Lts: store.Everything}
		return q.serveTransactions(&seqno, func(page store.Page, after *store.TransactionKey) ([]*record.Transaction, bool, error) {
			return q.store.Transactions(q, q.view, f, page, after)
		})
	},
}

// serveTransactions answers a page. master must be known when it is given.
func (q *request) serveTransactions(master *int32, read func(store.Page, *store.TransactionKey) ([]*record.Transaction, bool, error)) error {
	page, part, err := q.page(params.Descending)
	if err != nil {
		return err
	}
	var key store.TransactionKey
	var after *store.TransactionKey
	if there, err := q.after(page, &key); err != nil {
		return err
	} else if there {
		after = &key
	}
	list, more, err := read(part, after)
	if err != nil {
		return err
	}
	if len(list) == 0 && master != nil {
		known, err := q.store.Known(q, q.view, *master)
		if err != nil {
			return err
		}
		if !known {
			return params.NotFound("masterchain block %d not found", *master)
		}
	}
	q.body = append(q.body, '{')
	if err := q.transactions(list); err != nil {
		return err
	}
	if more {
		q.nextCursor(page.Sort, store.KeyOf(list[len(list)-1]))
	}
	q.body = append(q.body, '}')
	return nil
}

// transactions appends the members transactions and address_book.
func (q *request) transactions(list []*record.Transaction) error {
	q.body = append(q.body, `"transactions":[`...)
	book := addresses{}
	for i, tx := range list {
		store.Yield(i)
		if i > 0 {
			q.body = append(q.body, ',')
		}
		q.body = render.Transaction(q.body, tx, render.TransactionOptions{})
		if !q.options.noAddressBook {
			book.addTransaction(tx)
		}
	}
	q.body = append(q.body, ']')
	return q.addressBook(book)
}

var adjacentTransactions = &Endpoint{
	Path: "/adjacentTransactions", Tag: blockchainData, Summary: "Adjacent transactions",
	Description: "The transaction that produced the inbound message of a transaction, and those that consumed its outbound messages.",
	Params: []params.Param{
		{Name: "hash", Kind: params.HashKind, Required: true, Description: "hash of the transaction"},
		{Name: "direction", Kind: params.TextKind, Enum: []string{"in", "out"}, Description: "in: only the producer, out: only the consumers"},
	},
	Result: resultOf[transactionsAnswer](),
	Errors: []params.Error{*params.NotFound("adjacent transactions not found")},
	serve: func(q *request) error {
		direction, err := q.direction()
		if err != nil {
			direction = store.Either // any other text means both
		}
		var list []*record.Transaction
		if hash := q.hash("hash"); hash != nil {
			if list, err = q.store.Adjacent(q, q.view, *hash, direction); err != nil {
				return err
			}
		}
		if len(list) == 0 {
			return params.NotFound("adjacent transactions not found")
		}
		q.body = append(q.body, '{')
		if err := q.transactions(list); err != nil {
			return err
		}
		q.body = append(q.body, '}')
		return nil
	},
}

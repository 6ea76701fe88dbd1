package v3

import (
	"slices"

	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/schema/record"
)

var (
	msgHashParam   = params.Param{Name: "msg_hash", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "raw or normalized hashes of the messages"}
	bodyHashParam  = params.Param{Name: "body_hash", Kind: params.HashKind, Description: "cell hash of the body"}
	opcodeParam    = params.Param{Name: "opcode", Kind: params.OpcodeKind, Description: "first 32 bits of the body"}
	directionParam = params.Param{Name: "direction", Kind: params.TextKind, Enum: []string{"in", "out"}, Description: "in: consumed by a transaction, out: produced by one"}
)

var wrongDirection = params.Unprocessable("direction should be one of: in, out")

var messagesAnswer = listOf("MessagesAnswer", "messages", render.Message, hasBook|hasMetadata|hasNext)

var messages = &Endpoint{
	Path: "/messages", Tag: blockchainData, Summary: "Messages",
	Description: "Messages that match all filters, each once. In descending order external-in messages, which have no lt, come first; start_lt=1 leaves them out.",
	Params: slices.Concat([]params.Param{
		msgHashParam,
		{Name: "hash", Kind: params.TextKind, Description: "the same for one message, used without msg_hash"},
		bodyHashParam,
		{Name: "source", Kind: params.AddressOrNullKind, Description: "sender, or null for messages without"},
		{Name: "destination", Kind: params.AddressOrNullKind, Description: "receiver, or null for messages without"},
		opcodeParam,
		directionParam,
		{Name: "exclude_externals", Kind: params.BoolKind, Description: "without external-in messages"},
		{Name: "only_externals", Kind: params.BoolKind, Description: "only external-in messages"},
	}, params.UtimeRange("created_at"), params.LTRange("created_lt"), params.PageParams("desc", "by created_lt, or by created_at with a filter of time")),
	Result: messagesAnswer,
	Errors: []params.Error{*wrongDirection},
	serve:  serveMessages,
}

func serveMessages(q *request) error {
	f := &list.MessageFilter{
		Body: q.hash("body_hash"), Opcode: q.opcode("opcode"),
		Source: q.address("source"), NoSource: q.values.Null("source"),
		Destination: q.address("destination"), NoDestination: q.values.Null("destination"),
		Utime: q.span("start_utime", "end_utime"), Lts: q.span("start_lt", "end_lt"),
		ExcludeExternals: q.values.Bool("exclude_externals"), OnlyExternals: q.values.Bool("only_externals"),
	}
	var err error
	if f.Direction, err = q.direction(); err != nil {
		return err
	}
	if f.Hashes, err = q.messageHashes(); err != nil {
		return err
	}
	if len(f.Hashes) == 0 {
		if hash, ok := params.ParseHash(q.values.Text("hash")); ok {
			f.Hashes = []list.Hash{hash}
		}
	}
	var ends []render.MessageEnds
	return servePage(q, messagesAnswer, &page[list.Message, render.MessageRow, list.MessageKey]{
		sort: params.Descending, read: inView(q, f, q.Store.Messages),
		before: func(list []list.Message) error {
			ends = make([]render.MessageEnds, 0, len(list))
			return nil
		},
		row: func(m list.Message) render.MessageRow {
			ends = append(ends, render.MessageEnds{Consumer: m.InTransaction, Producer: m.OutTransaction})
			return render.MessageRow{Message: m.Message, Ends: &ends[len(ends)-1]}
		},
		keyOf: func(m list.Message) list.MessageKey { return f.KeyOf(m.Message) },
	})
}

// messageHashes refuses a list of nothing but empty texts.
func (q *request) messageHashes() ([]list.Hash, error) {
	list := q.values.Hashes("msg_hash")
	if q.values.Sent("msg_hash") && len(list) == 0 {
		return nil, params.Unprocessable(`failed to decode: schema: error converting value for index 0 of "msg_hash"`)
	}
	return list, nil
}

var nothingToFind = params.Unprocessable("at least one of msg_hash, body_hash, opcode should be specified")

var transactionsByMessage = &Endpoint{
	Path: "/transactionsByMessage", Tag: blockchainData, Summary: "Transactions by message",
	Description: "The transactions that hold a message: the one that produced it and the one that consumed it.",
	Params: slices.Concat([]params.Param{
		msgHashParam, bodyHashParam, opcodeParam, directionParam,
		{Name: "source", Kind: params.AddressOrNullKind, Description: "sender of the message"},
		{Name: "destination", Kind: params.AddressOrNullKind, Description: "receiver of the message"},
	}, params.PageParams("desc", "by lt")),
	Result: transactionsAnswer,
	Errors: []params.Error{*nothingToFind, *wrongDirection},
	serve:  serveTransactionsByMessage,
}

func serveTransactionsByMessage(q *request) error {
	f := &list.MessageFilter{
		Body: q.hash("body_hash"), Opcode: q.opcode("opcode"), Source: q.address("source"), Destination: q.address("destination"),
		Utime: list.Everything, Lts: list.Everything,
	}
	var err error
	if f.Hashes, err = q.messageHashes(); err != nil {
		return err
	}
	if len(f.Hashes) == 0 && f.Body == nil && f.Opcode == nil {
		return nothingToFind
	}
	if f.Direction, err = q.direction(); err != nil {
		return err
	}
	// An opcode is looked for on the side of the consumer only, and a missing
	// sender or receiver is nowhere looked for.
	nothing := f.Opcode != nil && f.Direction == list.Out || q.values.Null("source") || q.values.Null("destination")
	if f.Opcode != nil {
		f.Direction = list.In
	}
	named := f.Named()
	if nothing {
		named = nil
	}
	return q.serveTransactions(nil, named, func(page paging.Page, after *list.TransactionKey) ([]*record.Transaction, bool, error) {
		if nothing {
			return nil, false, nil
		}
		return q.Store.TransactionsByMessage(q, q.View, f, page, after)
	})
}

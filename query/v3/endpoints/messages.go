package endpoints

import (
	"slices"

	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
)

var (
	msgHashParam   = params.Param{Name: "msg_hash", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "raw or normalized hashes of the messages"}
	bodyHashParam  = params.Param{Name: "body_hash", Kind: params.HashKind, Description: "cell hash of the body"}
	opcodeParam    = params.Param{Name: "opcode", Kind: params.OpcodeKind, Description: "first 32 bits of the body"}
	directionParam = params.Param{Name: "direction", Kind: params.TextKind, Enum: []string{"in", "out"}, Description: "in: consumed by a transaction, out: produced by one"}
)

var wrongDirection = params.Unprocessable("direction should be one of: in, out")

var messagesAnswer = v3.ListOf("MessagesAnswer", "messages", render.Message, v3.HasBook|v3.HasMetadata|v3.HasNext)

var messages = &v3.Endpoint{
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
	Serve:  serveMessages,
}

func serveMessages(q *v3.Request) error {
	f := &list.MessageFilter{
		Body: q.Hash("body_hash"), Opcode: q.Opcode("opcode"),
		Source: q.Address("source"), NoSource: q.Values.Null("source"),
		Destination: q.Address("destination"), NoDestination: q.Values.Null("destination"),
		Utime: q.Span("start_utime", "end_utime"), Lts: q.Span("start_lt", "end_lt"),
		ExcludeExternals: q.Values.Bool("exclude_externals"), OnlyExternals: q.Values.Bool("only_externals"),
	}
	var err error
	if f.Direction, err = q.Direction(); err != nil {
		return err
	}
	if f.Hashes, err = messageHashes(q); err != nil {
		return err
	}
	if len(f.Hashes) == 0 {
		if hash, ok := params.ParseHash(q.Values.Text("hash")); ok {
			f.Hashes = []list.Hash{hash}
		}
	}
	var ends []render.MessageEnds
	return v3.ServePage(q, messagesAnswer, &v3.Page[list.Message, render.MessageRow, list.MessageKey]{
		Sort: params.Descending, Read: v3.InView(q, f, q.Store.Messages),
		Before: func(list []list.Message) error {
			ends = make([]render.MessageEnds, 0, len(list))
			return nil
		},
		Row: func(m list.Message) render.MessageRow {
			ends = append(ends, render.MessageEnds{Consumer: m.InTransaction, Producer: m.OutTransaction})
			return render.MessageRow{Message: m.Message, Ends: &ends[len(ends)-1]}
		},
		KeyOf: func(m list.Message) list.MessageKey { return f.KeyOf(m.Message) },
	})
}

// messageHashes refuses a list of nothing but empty texts.
func messageHashes(q *v3.Request) ([]list.Hash, error) {
	list := q.Values.Hashes("msg_hash")
	if q.Values.Sent("msg_hash") && len(list) == 0 {
		return nil, params.Unprocessable(`failed to decode: schema: error converting value for index 0 of "msg_hash"`)
	}
	return list, nil
}

var nothingToFind = params.Unprocessable("at least one of msg_hash, body_hash, opcode should be specified")

var transactionsByMessage = &v3.Endpoint{
	Path: "/transactionsByMessage", Tag: blockchainData, Summary: "Transactions by message",
	Description: "The transactions that hold a message: the one that produced it and the one that consumed it.",
	Params: slices.Concat([]params.Param{
		msgHashParam, bodyHashParam, opcodeParam, directionParam,
		{Name: "source", Kind: params.AddressOrNullKind, Description: "sender of the message"},
		{Name: "destination", Kind: params.AddressOrNullKind, Description: "receiver of the message"},
	}, params.PageParams("desc", "by lt")),
	Result: transactionsAnswer,
	Errors: []params.Error{*nothingToFind, *wrongDirection},
	Serve:  serveTransactionsByMessage,
}

func serveTransactionsByMessage(q *v3.Request) error {
	f := &list.MessageFilter{
		Body: q.Hash("body_hash"), Opcode: q.Opcode("opcode"), Source: q.Address("source"), Destination: q.Address("destination"),
		Utime: list.Everything, Lts: list.Everything,
	}
	var err error
	if f.Hashes, err = messageHashes(q); err != nil {
		return err
	}
	if len(f.Hashes) == 0 && f.Body == nil && f.Opcode == nil {
		return nothingToFind
	}
	if f.Direction, err = q.Direction(); err != nil {
		return err
	}
	// An opcode is looked for on the side of the consumer only, and a missing
	// sender or receiver is nowhere looked for.
	nothing := f.Opcode != nil && f.Direction == list.Out || q.Values.Null("source") || q.Values.Null("destination")
	if f.Opcode != nil {
		f.Direction = list.In
	}
	named := f.Named()
	if nothing {
		named = nil
	}
	return serveTransactionPage(q, nil, named, func(page paging.Page, after *list.TransactionKey) ([]*record.Transaction, bool, error) {
		if nothing {
			return nil, false, nil
		}
		return q.Store.TransactionsByMessage(q, q.View, f, page, after)
	})
}

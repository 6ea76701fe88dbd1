package list

import (
	"context"
	"slices"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// heldBy reports whether a transaction holds a wanted message.
func (f *MessageFilter) heldBy(tx *record.Transaction) bool {
	return f.Direction != Out && tx.InMsg != nil && f.matchesContent(tx.InMsg) ||
		f.Direction != In && slices.ContainsFunc(tx.OutMsgs, f.matchesContent)
}

// TransactionsByMessage is a page of the transactions that hold a wanted
// message, by lt. The filter has hashes, a body or an opcode.
func (l *Lists) TransactionsByMessage(ctx context.Context, v *View, f *MessageFilter, page paging.Page, after *TransactionKey) ([]*record.Transaction, bool, error) {
	if f.impossible() {
		return nil, false, nil
	}
	t := newTransactionList(v, &TransactionFilter{Utime: Everything, Lts: Everything}, transactionOrder{byLt, page.Descending, false}, page, after, f.heldBy)
	if len(f.Hashes) > 0 {
		return l.shortTransactions(ctx, t, "messages_index", f.byHash())
	}
	return l.longTransactions(ctx, t, t.planByMessage(f))
}

// byHash are the rows of messages_index that lead to the messages that are named.
func (f *MessageFilter) byHash() sql.Conditions {
	c := messagesByHash(f.Hashes)
	if f.Direction != Either {
		c.Add(sql.Is("direction", f.Direction))
	}
	return c
}

// planByMessage reads the transactions by their messages, external-in ones and
// others alike.
func (l *transactionList) planByMessage(f *MessageFilter) *plan.Plan {
	m := newMessageList(l.view, f, paging.Page{}, nil).plan(allMessages)
	p := l.planBy(l.order, m.Table, "")
	p.Residual, p.Ranges = m.Residual, []plan.Range{{Where: m.Ranges[0].Where}}
	return p
}

// Adjacent are the transactions that a transaction's messages lead to: the one
// that produced its inbound message (In), those that consumed its outbound ones
// (Out), or both, by lt.
func (l *Lists) Adjacent(ctx context.Context, v *View, hash Hash, d Direction) ([]*record.Transaction, error) {
	f := &TransactionFilter{Hashes: []Hash{hash}, Utime: Everything, Lts: Everything}
	list, _, err := l.Transactions(ctx, v, f, paging.Page{Limit: 1}, nil)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	wanted := endsOf(list[0], d)
	if len(wanted.Tuples) == 0 {
		return nil, nil
	}
	found, err := l.transactionsOf(ctx, v, "messages_index", sql.Conditions{sql.Is("path", sql.Name("hash")), wanted})
	if err != nil {
		return nil, err
	}
	return newTransactionList(v, nil, transactionOrder{}, paging.Page{}, nil, func(tx *record.Transaction) bool {
		return d != Out && produced(tx, list[0]) || d != In && produced(list[0], tx)
	}).Take(found), nil
}

// endsOf are the other ends of a transaction's messages, as rows of
// messages_index.
func endsOf(tx *record.Transaction, d Direction) sql.Among {
	wanted := sql.Among{Columns: []string{"key", "direction"}}
	add := func(m *record.Message, side Direction) {
		if m.Kind == record.Message_INTERNAL {
			wanted.Tuples = append(wanted.Tuples, []any{schema.Prefix(m.Hash), side})
		}
	}
	if d != Out && tx.InMsg != nil {
		add(tx.InMsg, Out)
	}
	if d != In {
		for _, m := range tx.OutMsgs {
			add(m, In)
		}
	}
	return wanted
}

// produced reports whether parent sent the message that child received.
func produced(parent, child *record.Transaction) bool {
	return child.InMsg != nil && slices.ContainsFunc(parent.OutMsgs, func(m *record.Message) bool {
		return string(m.Hash) == string(child.InMsg.Hash)
	})
}

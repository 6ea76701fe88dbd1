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
func (l *Lists) TransactionsByMessage(ctx context.Context, v *View, f *MessageFilter, page paging.Page, after *TransactionKey) (list []*record.Transaction, more bool, err error) {
	if f.impossible() {
		return nil, false, nil
	}
	t := newTransactionList(v, &TransactionFilter{Utime: Everything, Lts: Everything}, transactionOrder{byLt, page.Descending, false}, page, after, f.heldBy)
	if len(f.Hashes) > 0 {
		return l.shortTransactions(ctx, t, "messages_index", f.byHash())
	}
	for _, p := range t.plansByMessage(f) {
		if list, more, err = l.longTransactions(ctx, t, p); !mayDoOtherwise(err) {
			break
		}
	}
	return list, more, err
}

// byHash are the rows of messages_index that lead to the messages that are named.
func (f *MessageFilter) byHash() sql.Conditions {
	c := messagesByHash(f.Hashes)
	if f.Direction != Either {
		c.Add(sql.Is("direction", f.Direction))
	}
	return c
}

// plansByMessage read the transactions by their messages, external-in ones and
// others alike.
func (l *transactionList) plansByMessage(f *MessageFilter) (plans []*plan.Plan) {
	for _, m := range newMessageList(l.view, f, paging.Page{}, nil).plans(allMessages) {
		p := l.planBy(l.order, m.Table, "")
		p.Residual, p.Ranges = m.Residual, []plan.Range{{Where: m.Ranges[0].Where}}
		plans = append(plans, p)
	}
	return plans
}

// NamedNeighbours are the transactions that a transaction's messages lead to: the one that
// produced its inbound message (In), those that consumed its outbound ones (Out), or both;
// nil when no message leads anywhere.
func NamedNeighbours(tx *record.Transaction, d Direction) *Named {
	n := &Named{Table: "messages_index", Is: func(o *record.Transaction) bool { return d != Out && produced(o, tx) || d != In && produced(tx, o) }}
	ends := sql.Among{Columns: []string{"key", "direction"}}
	add := func(m *record.Message, side Direction) {
		if m.Kind == record.Message_INTERNAL {
			n.Hashes = append(n.Hashes, Hash(m.Hash))
			ends.Tuples = append(ends.Tuples, []any{schema.Prefix(m.Hash), side})
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
	if len(n.Hashes) == 0 {
		return nil
	}
	n.Where = sql.Conditions{sql.Is("path", sql.Name("hash")), ends}
	n.Read = func(l *Lists, ctx context.Context, v *View, _ []Hash) ([]*record.Transaction, error) {
		found, err := l.transactionsOf(ctx, v, n.Table, n.Where)
		return newTransactionList(v, nil, transactionOrder{}, paging.Page{}, nil, n.Is).Take(found), err
	}
	return n
}

// produced reports whether parent sent the message that child received.
func produced(parent, child *record.Transaction) bool {
	return child.InMsg != nil && slices.ContainsFunc(parent.OutMsgs, func(m *record.Message) bool {
		return string(m.Hash) == string(child.InMsg.Hash)
	})
}

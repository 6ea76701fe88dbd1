package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// heldBy says whether a transaction holds a wanted message.
func (f *MessageFilter) heldBy(tx *record.Transaction) bool {
	return f.Direction != Out && tx.InMsg != nil && f.matchesContent(tx.InMsg) ||
		f.Direction != In && slices.ContainsFunc(tx.OutMsgs, f.matchesContent)
}

// TransactionsByMessage is a page of the transactions that hold a wanted
// message, by lt. The filter has hashes, a body or an opcode.
func (s *Store) TransactionsByMessage(ctx context.Context, v *View, f *MessageFilter, page Page, after *TransactionKey) ([]*record.Transaction, bool, error) {
	l := &transactionList{
		filter: &TransactionFilter{Utime: Everything, Lts: Everything}, match: f.heldBy,
		order: transactionOrder{byLt, page.Descending, false}, view: v, page: page, after: after,
	}
	if len(f.Hashes) > 0 {
		var c conditions
		c.add("path = 'hash' AND key IN (%s)", prefixes(f.Hashes))
		if f.Direction != Either {
			c.add("direction = %d", f.Direction)
		}
		list, err := s.transactions(ctx, recordsAt("messages_index", c))
		if err != nil {
			return nil, false, err
		}
		return l.cut(list)
	}
	m := (&messageList{filter: f, view: v}).plan(true)
	p := transactionPlan{table: m.table, order: l.order, residual: m.residual}
	for _, condition := range m.conditions {
		if condition != "created_lt = 0" { // external-in messages and others alike
			p.conditions = append(p.conditions, condition)
		}
	}
	return s.pageOfTransactions(ctx, l, p)
}

// Adjacent are the transactions that a transaction's messages lead to: the one
// that produced its inbound message (In), those that consumed its outbound ones
// (Out), or both, by lt.
func (s *Store) Adjacent(ctx context.Context, v *View, hash Hash, d Direction) ([]*record.Transaction, error) {
	f := &TransactionFilter{Hashes: []Hash{hash}, Utime: Everything, Lts: Everything}
	list, _, err := s.Transactions(ctx, v, f, Page{Limit: 1}, nil)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	wanted := endsOf(list[0], d)
	if len(wanted) == 0 {
		return nil, nil
	}
	found, err := s.transactions(ctx, recordsAt("messages_index", conditions{"path = 'hash' AND (key, direction) IN (" + strings.Join(wanted, ",") + ")"}))
	if err != nil {
		return nil, err
	}
	l := &transactionList{
		match: func(tx *record.Transaction) bool {
			return d != Out && produced(tx, list[0]) || d != In && produced(list[0], tx)
		},
		view: v, page: Page{Limit: len(found)},
	}
	found, _, err = l.cut(found)
	return found, err
}

// endsOf are the other ends of a transaction's messages, as rows of
// messages_index.
func endsOf(tx *record.Transaction, d Direction) (wanted []string) {
	add := func(m *record.Message, side Direction) {
		if m.Kind == record.Message_INTERNAL {
			wanted = append(wanted, fmt.Sprintf("(%d,%d)", schema.Prefix(m.Hash), side))
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

// produced says that parent sent the message that child received.
func produced(parent, child *record.Transaction) bool {
	return child.InMsg != nil && slices.ContainsFunc(parent.OutMsgs, func(m *record.Message) bool {
		return string(m.Hash) == string(child.InMsg.Hash)
	})
}

package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

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
//
// Its place tells enough to look for the consumers while it is read itself: its
// messages were created at the lts that follow its own. The producer is the
// sender's last transaction before the message.
func (s *Store) Adjacent(ctx context.Context, v *View, hash Hash, d Direction) ([]*record.Transaction, error) {
	keys, err := s.keys(ctx, fmt.Sprintf("SELECT %s, toUInt32(0) AS now FROM transactions_index WHERE path = 'hash' AND key = %d", placeColumns, schema.Prefix(hash[:])))
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	var tx *record.Transaction
	var producers, consumers []*record.Transaction
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if tx, err = s.oneOf(groupContext, keys, hash); err == nil && tx != nil && d != Out {
			producers, err = s.lastBefore(groupContext, tx.InMsg)
		}
		return err
	})
	if d != In {
		group.Go(func() (err error) {
			consumers, err = s.transactions(groupContext, recordsAt("messages_by_account", consumersOf(keys)))
			return err
		})
	}
	if err := group.Wait(); err != nil || tx == nil || tx.McSeqno > v.Watermark {
		return nil, err
	}
	l := &transactionList{
		match: func(other *record.Transaction) bool {
			return d != Out && produced(other, tx) || d != In && produced(tx, other)
		},
		view: v, page: Page{Limit: len(producers) + len(consumers)},
	}
	found, _, err := l.cut(append(producers, consumers...))
	return found, err
}

// oneOf is the transaction with a hash among those that some keys lead to.
func (s *Store) oneOf(ctx context.Context, keys []key, hash Hash) (*record.Transaction, error) {
	list := make([]place, len(keys))
	for i := range keys {
		list[i] = keys[i].place
	}
	found, err := s.transactionsAt(ctx, list)
	if i := slices.IndexFunc(found, func(tx *record.Transaction) bool { return Hash(tx.Hash) == hash }); err == nil && i >= 0 {
		return found[i], nil
	}
	return nil, err
}

// mostOut is how far behind a transaction's lt its messages are created, at most:
// it has that many actions.
const mostOut = 256

// consumersOf is where the messages that transactions at some places sent are
// consumed.
func consumersOf(keys []key) conditions {
	of := make([]string, len(keys))
	for i, k := range keys {
		of[i] = fmt.Sprintf("near_workchain = %d AND near_prefix = %d AND created_lt > %d AND created_lt <= %d", k.workchain, k.prefix, k.lt, k.lt+mostOut)
	}
	return conditions{"side = 'source'", "(" + strings.Join(of, " OR ") + ")", fmt.Sprintf("direction = %d", In)}
}

// lastBefore are the last rows of a message's sender before the message, which
// are more than one when they were written twice.
func (s *Store) lastBefore(ctx context.Context, m *record.Message) ([]*record.Transaction, error) {
	if m == nil || m.Kind != record.Message_INTERNAL {
		return nil, nil
	}
	return s.transactions(ctx, fmt.Sprintf("SELECT record FROM transactions WHERE %s AND lt < %d ORDER BY workchain DESC, account_prefix DESC, lt DESC LIMIT 4",
		account("workchain", "account_prefix", Address(m.Source)), m.CreatedLt))
}

// produced says that parent sent the message that child received.
func produced(parent, child *record.Transaction) bool {
	return child.InMsg != nil && slices.ContainsFunc(parent.OutMsgs, func(m *record.Message) bool {
		return string(m.Hash) == string(child.InMsg.Hash)
	})
}

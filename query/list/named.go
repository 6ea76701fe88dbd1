package list

import (
	"context"

	"tonscribe/query/list/paging"
	"tonscribe/query/sql"
	"tonscribe/schema/record"
)

// Named are transactions that are named, by their hashes or those of messages that they
// hold.
type Named struct {
	Hashes []Hash
	Table  string // whose rows lead to them, and to some that are not
	Where  sql.Conditions
	// Is reports whether one of those that rows lead to is named.
	Is func(*record.Transaction) bool
	// Read reads those that are visible.
	Read func(*Lists, context.Context, *View, []Hash) ([]*record.Transaction, error)
}

// Named are the transactions whose hashes the filter names, nil for none.
func (f *TransactionFilter) Named() *Named {
	if len(f.Hashes) == 0 {
		return nil
	}
	return &Named{f.Hashes, "transactions_index", transactionsByHash(f.Hashes), f.matches, (*Lists).TransactionsWith}
}

// Named are the transactions that hold the messages whose hashes the filter names, nil
// for none.
func (f *MessageFilter) Named() *Named {
	if len(f.Hashes) == 0 {
		return nil
	}
	return &Named{f.Hashes, "messages_index", f.byHash(), f.heldBy, (*Lists).TransactionsOfMessages}
}

// NamedTransactions are those with some hashes.
func NamedTransactions(hashes []Hash) *Named {
	return (&TransactionFilter{Hashes: hashes, Utime: Everything, Lts: Everything}).Named()
}

// NamedMessages are the transactions that hold the messages with some hashes.
func NamedMessages(hashes []Hash) *Named { return holders(hashes).Named() }

// holders finds what holds messages, on either side.
func holders(hashes []Hash) *MessageFilter {
	return &MessageFilter{Hashes: hashes, Direction: Either, Utime: Everything, Lts: Everything}
}

// ByMessage reports whether it is messages that name them.
func (n *Named) ByMessage() bool { return n.Table == "messages_index" }

// TransactionsWith are the visible transactions with some hashes, in no order.
func (l *Lists) TransactionsWith(ctx context.Context, v *View, hashes []Hash) ([]*record.Transaction, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	return paging.InChunks(ctx, hashes, func(ctx context.Context, some []Hash) ([]*record.Transaction, error) {
		f := &TransactionFilter{Hashes: some, Utime: Everything, Lts: Everything}
		list, _, err := l.Transactions(ctx, v, f, paging.Page{Limit: len(some)}, nil)
		return list, err
	})
}

// TransactionsOfMessages are the visible transactions that hold messages with some
// hashes.
func (l *Lists) TransactionsOfMessages(ctx context.Context, v *View, hashes []Hash) ([]*record.Transaction, error) {
	list, _, err := l.TransactionsByMessage(ctx, v, holders(hashes), paging.Page{Limit: maxOfMessages}, nil)
	return list, err
}

// maxOfMessages is how many transactions that hold named messages are looked at: of a
// message from outside that was accepted again and again, the first ones.
const maxOfMessages = 10_000

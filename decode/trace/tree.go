package trace

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"tonscribe/schema/record"
)

// MaxNodes is the greatest number of transactions of a trace that is made into a
// tree.
const MaxNodes = 10_000

// MaxBytes is how much the transactions of a trace have at most that are put together out
// of a store.
const MaxBytes = 64 << 20

var (
	// ErrEmpty is the error of a trace without transactions.
	ErrEmpty = errors.New("a trace without transactions")
	// ErrNone is the error of a list of traces that has none.
	ErrNone = errors.New("no traces")
	// ErrTooLarge is the error of a trace with more than MaxNodes transactions.
	ErrTooLarge = errors.New("a trace of more than 10000 transactions")
	// ErrOrder is the error of a trace whose first transaction received a message of a later
	// one.
	ErrOrder = errors.New("a transaction before the one that sent its message")
)

// Node is a transaction in the tree of its trace.
type Node struct {
	Tx       *record.Transaction
	Parent   *Node   // that sent the inbound message, nil for the root
	Children []*Node // in the order of Tree.Nodes
}

// Tree is the tree of a trace's transactions.
type Tree struct {
	// Transactions are all by (lt, account), the missing ones included.
	Transactions []*record.Transaction
	Root         *Node
	// Nodes are those of the tree by (lt, account): parents before their children.
	Nodes []*Node
	// Missing are the transactions that nothing in the trace led to.
	Missing []*record.Transaction
}

// Order compares transactions by (lt, workchain, account): whoever sends comes
// before whoever receives.
func Order(a, b *record.Transaction) int {
	return cmp.Or(cmp.Compare(a.Lt, b.Lt), bytes.Compare(a.Account, b.Account))
}

// NewTree makes the tree of the transactions of one trace, in whatever order. The
// first one that nothing led to is the root. A message belongs to its receiver by
// its hash alone. Messages of the trace that nobody received yet are no nodes.
func NewTree(transactions []*record.Transaction) (*Tree, error) {
	switch {
	case len(transactions) == 0:
		return nil, ErrEmpty
	case len(transactions) > MaxNodes:
		return nil, ErrTooLarge
	}
	sorted := transactions
	if !slices.IsSortedFunc(sorted, Order) {
		sorted = slices.Clone(sorted)
		slices.SortStableFunc(sorted, Order)
	}
	t := &Tree{Transactions: sorted, Nodes: make([]*Node, 0, len(sorted))}
	nodes := make([]Node, len(sorted))
	if len(sorted) == 1 {
		nodes[0].Tx = sorted[0]
		t.Root, t.Nodes = &nodes[0], append(t.Nodes, &nodes[0])
		return t, nil
	}
	sent := make(map[[32]byte]*Node, 2*len(sorted))
	for i, tx := range sorted {
		n := &nodes[i]
		n.Tx = tx
		if in := tx.InMsg; in != nil && len(in.Hash) == 32 {
			n.Parent = sent[[32]byte(in.Hash)]
		}
		switch {
		case n.Parent != nil:
			n.Parent.Children = append(n.Parent.Children, n)
		case t.Root == nil:
			t.Root = n
		default:
			t.Missing = append(t.Missing, tx)
			continue
		}
		t.Nodes = append(t.Nodes, n)
		for _, m := range tx.OutMsgs {
			if m.Kind == record.Message_INTERNAL && len(m.Hash) == 32 {
				sent[[32]byte(m.Hash)] = n
			}
		}
	}
	return t, nil
}

// LedTo returns those of some transactions that a root led to, itself among them.
func LedTo(root [32]byte, list []*record.Transaction) (of []*record.Transaction) {
	received := map[string][]*record.Transaction{}
	for _, tx := range list {
		switch {
		case [32]byte(tx.Hash) == root:
			of = append(of, tx)
		case tx.InMsg != nil:
			received[string(tx.InMsg.Hash)] = append(received[string(tx.InMsg.Hash)], tx)
		}
	}
	for i := 0; i < len(of); i++ {
		for _, m := range of[i].OutMsgs {
			of = append(of, received[string(m.Hash)]...)
			delete(received, string(m.Hash))
		}
	}
	return of
}

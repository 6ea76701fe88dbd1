package pending

import (
	"bytes"
	"slices"

	"tonscribe/decode/trace"
	"tonscribe/schema/record"
)

// Merged is a trace of which blocks have a part, and the rest is foreseen.
type Merged struct {
	// Trace has no id while its first transaction is foreseen.
	Trace *record.Trace
	// Tree has the nodes, and the transactions, breadth first from the root, and those behind
	// one in the order in which they are received.
	Tree *trace.Tree
	// Foreseen are the transactions that no block has.
	Foreseen map[*record.Transaction]bool
}

// Merge joins what was foreseen, the first transaction first, with what blocks have of
// the same trace. A message that a block has takes the place of the foreseen one that
// goes to the same account with the same body, or else the same opcode, and what was
// foreseen to follow follows it until a block has that, too. Of neither is changed what
// it says but that messages are the same at both ends.
func Merge(foreseen, found []*record.Transaction) *Merged {
	m := newMerge(foreseen, found)
	root := pair{guess: foreseen[0]}
	for _, tx := range found {
		if tx.InMsg.GetKind() == record.Message_EXTERNAL_IN && bytes.Equal(normal(tx.InMsg), normal(root.guess.InMsg)) &&
			(root.real == nil || trace.Order(tx, root.real) < 0) { // the account may have taken it again
			root.real = tx
		}
	}
	return m.from(root)
}

// Recorded is the trace of a recording, of which a part is foreseen, as Merge makes it.
// Transactions that the root did not lead to are in neither but Tree.Missing.
func Recorded(r *trace.Recorded) (*Merged, error) {
	if len(r.Transactions) > trace.MaxNodes {
		return nil, trace.ErrTooLarge
	}
	sent := map[string]bool{}
	var found []*record.Transaction
	for _, tx := range r.Transactions {
		for _, out := range tx.OutMsgs {
			sent[string(out.Hash)] = true
		}
		if !r.Foreseen[tx] {
			found = append(found, tx)
		}
	}
	first := slices.IndexFunc(r.Transactions, func(tx *record.Transaction) bool { return tx.InMsg == nil || !sent[string(tx.InMsg.Hash)] })
	if first < 0 {
		return nil, trace.ErrOrder
	}
	root := pair{guess: r.Transactions[first]}
	if !r.Foreseen[root.guess] {
		root.real = root.guess
	}
	out := newMerge(r.Transactions, found).from(root)
	known := map[*record.Transaction]bool{}
	for _, tx := range out.Tree.Transactions {
		known[tx] = true
	}
	for _, tx := range r.Transactions {
		if !known[tx] {
			out.Tree.Missing = append(out.Tree.Missing, tx)
		}
	}
	out.Tree.Transactions = append(out.Tree.Transactions, out.Tree.Missing...)
	return out, nil
}

func newMerge(foreseen, found []*record.Transaction) *merge {
	return &merge{guessed: received(foreseen), real: received(found), out: &Merged{Foreseen: map[*record.Transaction]bool{}, Tree: &trace.Tree{}, Trace: &record.Trace{}}}
}

// from is the trace of a root.
func (m *merge) from(root pair) *Merged {
	m.out.Trace.ExternalHash, m.out.Trace.ExternalHashNorm = root.tx().InMsg.GetHash(), root.tx().InMsg.GetHashNorm()
	if root.real != nil {
		m.out.Trace.Id = root.real.Hash
	}
	m.out.Trace.Edges++
	m.out.Tree.Root = m.add(nil, root)
	for next := 0; next < len(m.pairs); next++ { //nolint:intrange // follow adds to them
		m.follow(m.out.Tree.Nodes[next], m.pairs[next])
	}
	m.out.Trace.State = record.TraceState_TRACE_PENDING
	return m.out
}

// normal is the normalised hash of a message from outside.
func normal(m *record.Message) []byte {
	if len(m.GetHashNorm()) > 0 {
		return m.HashNorm
	}
	return m.GetHash()
}

// received are transactions by the hashes of the messages that they received.
func received(list []*record.Transaction) map[string]*record.Transaction {
	by := make(map[string]*record.Transaction, len(list))
	for _, tx := range list {
		if tx.InMsg != nil {
			by[string(tx.InMsg.Hash)] = tx
		}
	}
	return by
}

// pair is a transaction as a block has it and as it was foreseen; one may be nil.
type pair struct{ real, guess *record.Transaction }

func (p pair) tx() *record.Transaction {
	if p.real != nil {
		return p.real
	}
	return p.guess
}

type merge struct {
	guessed, real map[string]*record.Transaction
	pairs         []pair // of the tree's nodes
	out           *Merged
}

// add makes a node of a pair.
func (m *merge) add(parent *trace.Node, p pair) *trace.Node {
	tx := p.tx()
	n := &trace.Node{Tx: tx, Parent: parent}
	m.pairs = append(m.pairs, p)
	m.out.Tree.Nodes = append(m.out.Tree.Nodes, n)
	m.out.Tree.Transactions = append(m.out.Tree.Transactions, tx)
	if parent != nil {
		parent.Children = append(parent.Children, n)
	}
	t := m.out.Trace
	if p.real == nil {
		m.out.Foreseen[tx] = true
		t.PendingEdges++ // nobody has received its message yet
	}
	if t.Nodes++; t.Nodes == 1 {
		t.StartLt, t.StartUtime, t.McSeqnoStart = tx.Lt, tx.Now, tx.McSeqno
	}
	t.EndLt, t.EndUtime, t.McSeqnoEnd = max(t.EndLt, tx.Lt), max(t.EndUtime, tx.Now), max(t.McSeqnoEnd, tx.McSeqno)
	t.Edges += uint32(len(tx.OutMsgs))
	return n
}

// follow adds who received the messages of a node's transaction.
func (m *merge) follow(n *trace.Node, p pair) {
	var counterparts []*record.Message
	if p.real != nil && p.guess != nil {
		counterparts = counterpartsOf(p.real.OutMsgs, p.guess.OutMsgs)
	}
	var receivers []pair
	for i, sent := range n.Tx.OutMsgs {
		if sent.Kind != record.Message_INTERNAL {
			continue
		}
		next := pair{real: take(m.real, sent.Hash)}
		switch {
		case p.real == nil:
			next = pair{guess: take(m.guessed, sent.Hash)}
		case counterparts != nil && counterparts[i] != nil:
			if next.guess = take(m.guessed, counterparts[i].Hash); next.guess != nil && next.real == nil && !bytes.Equal(next.guess.InMsg.Hash, sent.Hash) {
				next.guess = next.guess.CloneVT()
				next.guess.InMsg = sent
			}
		}
		if next.tx() == nil {
			m.out.Trace.PendingEdges++
			continue
		}
		receivers = append(receivers, next)
	}
	slices.SortStableFunc(receivers, compare)
	for _, next := range receivers {
		m.add(n, next)
	}
}

// compare is the order of those who received messages of one transaction, as trace.NewTree
// has it: what no block has comes after what blocks have.
func compare(a, b pair) int {
	if foreseen := a.real == nil; foreseen != (b.real == nil) {
		if foreseen {
			return 1
		}
		return -1
	}
	return trace.Order(a.tx(), b.tx())
}

// take is who received a message. It receives it once, whatever a recording says.
func take(by map[string]*record.Transaction, message []byte) *record.Transaction {
	tx := by[string(message)]
	delete(by, string(message))
	return tx
}

// counterpartsOf finds for each message of a transaction the one that was foreseen in
// its place, nil for none.
func counterpartsOf(sent, guessed []*record.Message) []*record.Message {
	found := make([]*record.Message, len(sent))
	taken := make([]bool, len(guessed))
	for _, same := range []func(a, b *record.Message) bool{
		func(a, b *record.Message) bool { return bytes.Equal(a.Hash, b.Hash) },
		func(a, b *record.Message) bool { return bytes.Equal(a.BodyHash, b.BodyHash) },
		func(a, b *record.Message) bool {
			return a.Opcode != nil && b.Opcode != nil && *a.Opcode == *b.Opcode
		},
	} {
		for i, a := range sent {
			for j, b := range guessed {
				if found[i] == nil && !taken[j] && a.Kind == b.Kind && bytes.Equal(a.Destination, b.Destination) && same(a, b) {
					found[i], taken[j] = b, true
				}
			}
		}
	}
	return found
}

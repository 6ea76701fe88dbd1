// Package trace puts transactions together to traces: trees in which every
// transaction but the root was caused by a message of another one. In come the
// transactions of a chain as records, bundle by bundle; out come traces with their
// counters and states, and trees. The package must never ask what a transaction
// means, and reads no store but the one that it is given.
//
// An Assembler adds a bundle to what its Store has: which messages were sent and not
// received yet, and the traces that wait for them with their transactions. It tells
// each trace that got transactions, as it is then: complete, pending, or broken where
// the sender of its first message was never seen. With the last message that is
// received come all transactions of the trace, of which NewTree makes a tree:
//
//	list, err := trace.NewAssembler(store).Bundle(mcSeqno, transactions)
//	for _, t := range list {
//		publish(t.Trace, t.New) // the trace's row, and the id of its transactions
//		if t.All != nil {
//			tree, err := trace.NewTree(t.All)
//			actions, err := action.Classify(tree, facts)
//		}
//	}
//
// A message belongs to its receiver by its hash alone: sender and receiver have the
// same cell. Where a back-fill brings the sender of a broken trace's first message,
// the trace becomes a part of the sender's, and Replaces names it: the id of its
// transactions is another one from then on.
//
// What is remembered lies in the store and nowhere else, and the same bundle on the
// same store gives the same traces and the same changes, so that a restart, a
// stand-by and a rewind agree with what was published.
//
// Recorded is a trace that was read from JSON (Read, ReadAll).
package trace

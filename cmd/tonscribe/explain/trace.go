package explain

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/body"
)

// Trace prints which rule made each action of a trace, and which transactions the
// parts of its pattern matched: the actions that it is made of below it.
func Trace(out io.Writer, t *record.Trace, tree *trace.Tree, list []*action.Action) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "trace %s: %d transactions, %d messages, %d not received\n", hash(tree.Root.Tx.Hash), t.Nodes, t.Edges, t.PendingEdges)
	transactions := make(map[string]*record.Transaction, len(tree.Transactions))
	for _, tx := range tree.Transactions {
		transactions[string(tx.Hash)] = tx
	}
	parts := map[*action.Action][]*action.Action{}
	for _, a := range list {
		parts[a.Parent()] = append(parts[a.Parent()], a)
	}
	printParts(w, nil, parts, transactions)
	return w.Flush()
}

// printParts prints the parts of an action, those that are part of none for nil.
func printParts(w io.Writer, whole *action.Action, parts map[*action.Action][]*action.Action, transactions map[string]*record.Transaction) {
	for _, a := range parts[whole] {
		printAction(w, a, transactions)
		printParts(w, a, parts, transactions)
	}
}

func printAction(w io.Writer, a *action.Action, transactions map[string]*record.Transaction) {
	indent := strings.Repeat("  ", len(a.Ancestors))
	outcome := ""
	if !a.Success {
		outcome = ", failed"
	}
	fmt.Fprintf(w, "\n%s%s%s\n", indent, a.Type.Name, outcome)
	if a.Rule == "" {
		fmt.Fprintf(w, "%s  what its message is by itself:\n", indent)
		for _, id := range a.Transactions {
			tx, label := transactions[string(id)], "received"
			if tx == nil {
				continue
			}
			if tx.Lt < a.EndLt {
				label = "sent"
			}
			printFound(w, indent, label, tx, tx.InMsg)
		}
		return
	}
	fmt.Fprintf(w, "%s  pattern %q found:\n", indent, a.Rule)
	for _, f := range a.Found() {
		label := f.Label
		if f.Message.GetKind() == record.Message_EXTERNAL_OUT {
			label += " (log)"
		}
		if f.Kept {
			label += " (looked at)"
		}
		printFound(w, indent, label, f.Transaction, f.Message)
	}
}

// printFound prints a message, and the transaction that received it or, of a log,
// sent it.
func printFound(w io.Writer, indent, label string, tx *record.Transaction, m *record.Message) {
	opcode, name := "-", ""
	if m != nil && m.Opcode != nil {
		opcode, name = fmt.Sprintf("0x%08x", *m.Opcode), body.NameOf(*m.Opcode)
	}
	aborted := ""
	if tx.Aborted {
		aborted = "aborted"
	}
	fmt.Fprintf(w, "%s  %s\t%s\t%s\t%s\t%s\t%s\n", indent, label, hash(tx.Hash), address.AppendRaw(nil, tx.Account), opcode, name, aborted)
}

func hash(h []byte) string { return base64.StdEncoding.EncodeToString(h) }
